"""Runs whose supervisor was killed, or that MLflow has never heard of."""

import json
import os
import signal
import subprocess
import sys

import psutil
import pytest
from mlflow import MlflowClient

from grpo_ops.journal import Journal
from grpo_ops.tracking import Repair, open_run, reconcile
from tests.tracking.world import folder_of, history, make_spec, status_of_run, tags_of, write_start, write_steps

SUPERVISOR = """
import json, os, sys, time
from pathlib import Path
import psutil
from grpo_ops.home import Home
from grpo_ops.journal import Journal, RunFolder
from grpo_ops.specs import RunSpec
from grpo_ops.tracking import open_run, open_study
home, spec = Home(Path(sys.argv[1])), RunSpec.checked(json.loads(sys.argv[2]), "test")
folder = RunFolder(home.runs / "s-001")
study = open_study(home, "grpo-ops", "s")
tracker = open_run(home, spec, "s-001", study="s")
me = {"pid": os.getpid(), "started": psutil.Process().create_time()}
document = {"run_key": "s-001", "attempt": 0, "supervisor": me, "spec": json.loads(sys.argv[2])}
folder.spec.write_text(json.dumps(document))
journal = Journal(folder.journal, 0)
for step in (1, 2):
    journal.step(step, {"reward": step / 10})
tracker.log([{"kind": "step", "time": time.time(), "attempt": 0, "step": 1, "metrics": {"reward": 0.1}}])
print(tracker.run_id, study.run_id, flush=True)
time.sleep(600)
"""


@pytest.fixture
def supervisor(home):
    """A live process that runs a study with one run, and its two MLflow run ids."""
    spec = make_spec().model_dump_json()
    child = subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR, str(home.root), spec], stdout=subprocess.PIPE, text=True
    )
    run_id, study_id = child.stdout.readline().split()
    yield child, run_id, study_id
    child.kill()
    child.wait()


def test_a2_a_run_left_running_by_sigkill_is_closed_as_failed_and_a_live_one_is_left_alone(home, supervisor):
    child, run_id, study_id = supervisor
    assert reconcile(home) == []
    assert status_of_run(home.tracking_uri, run_id) == "RUNNING"

    child.send_signal(signal.SIGKILL)
    child.wait()
    planned = reconcile(home, dry_run=True)
    assert status_of_run(home.tracking_uri, run_id) == "RUNNING"
    assert reconcile(home) == planned
    assert [repair.key for repair in planned] == ["s-001", "s"]
    assert planned[0].actions == ("replay 1 journal lines", "close it as failed", "upload its files")
    assert status_of_run(home.tracking_uri, run_id) == "FAILED"
    assert status_of_run(home.tracking_uri, study_id) == "KILLED"
    assert tags_of(home.tracking_uri, run_id)["grpo_ops.stop_reason"] == "its trainer is gone without a result"
    assert [step for step, _ in history(home.tracking_uri, run_id, "reward")] == [1, 2]
    assert reconcile(home) == []


@pytest.mark.parametrize(
    ("result", "status", "ending", "reason"),
    [
        ({"reason": "finished", "step": 5}, "FINISHED", "finished", "all 5 steps done"),
        ({"reason": "failed", "message": "RewardError: boom"}, "FAILED", "failed", "RewardError: boom"),
        (
            {"reason": "stopped", "stop": {"reason": "plateau", "message": "enough"}},
            "FINISHED",
            "plateau",
            "enough",
        ),
        (
            {"reason": "stopped", "stop": {"reason": "hopeless", "message": "too low"}},
            "KILLED",
            "hopeless",
            "too low",
        ),
        (
            {"reason": "stopped", "stop": {"reason": "preempted", "message": "SIGTERM"}},
            "KILLED",
            "cancelled",
            "preempted: SIGTERM",
        ),
    ],
)
def test_a_run_that_was_never_tracked_is_made_from_its_folder(home, result, status, ending, reason):
    folder = folder_of(home, "k")
    spec = make_spec().model_dump(mode="json")
    folder.spec.write_text(json.dumps({"run_key": "k", "attempt": 0, "supervisor": {}, "spec": spec}))
    folder.result.write_text(json.dumps({"attempt": 0, **result}))
    with Journal(folder.journal, 0) as journal:
        write_start(journal)
        write_steps(journal, range(1, 6))
    (repair,) = reconcile(home)
    assert repair == Repair(
        "k", ("make the run", "replay 5 journal lines", f"close it as {ending}", "upload its files")
    )
    client = MlflowClient(home.tracking_uri)
    (run,) = client.search_runs([client.get_experiment_by_name("grpo-ops").experiment_id])
    assert (run.info.status, run.data.tags["grpo_ops.ending"]) == (status, ending)
    assert run.data.tags["grpo_ops.stop_reason"] == reason
    assert len(history(home.tracking_uri, run.info.run_id, "reward")) == 5
    assert {file.path for file in client.list_artifacts(run.info.run_id)} >= {"law.json", "journal.jsonl", "spec.json"}
    lines = [json.loads(line) for line in folder.journal.read_text().splitlines()]
    assert run.info.start_time == round(lines[0]["time"] * 1000)
    assert run.info.end_time == round(lines[-1]["time"] * 1000)


def test_a_result_of_an_earlier_attempt_does_not_count(home):
    folder = folder_of(home, "k")
    tracker = open_run(home, make_spec(), "k")
    folder.spec.write_text(json.dumps({"attempt": 1, "supervisor": {}}))
    folder.result.write_text(json.dumps({"attempt": 0, "reason": "finished", "step": 20}))
    reconcile(home)
    assert status_of_run(home.tracking_uri, tracker.run_id) == "FAILED"


@pytest.mark.parametrize(("content", "words"), [("{", "is not JSON"), ('{"a": 1}', "is not of this version")])
def test_trouble_with_one_run_does_not_keep_the_others_from_repair(home, content, words):
    broken = open_run(home, make_spec(), "broken")
    sound = open_run(home, make_spec(), "sound")
    (broken.folder.path / "tracking.json").write_text(content)
    first, second = reconcile(home)
    assert (first.key, first.actions) == ("broken", ())
    assert words in first.trouble
    assert second.trouble is None
    assert status_of_run(home.tracking_uri, sound.run_id) == "FAILED"
    assert str(second) == "sound: close it as failed, upload its files"


def test_this_process_counts_as_a_supervisor(home):
    tracker = open_run(home, make_spec(), "k")
    me = {"pid": os.getpid(), "started": psutil.Process().create_time()}
    tracker.folder.spec.write_text(json.dumps({"attempt": 0, "supervisor": me}))
    assert reconcile(home) == []


def test_a_home_without_runs_has_nothing_to_do(home):
    assert reconcile(home) == []
