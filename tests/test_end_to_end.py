"""Real training of a starter model, supervised and tracked: killed, resumed, failing, without MLflow, disk full."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from mlflow import MlflowClient

from grpo_ops.ending import Ending
from grpo_ops.home import Home
from grpo_ops.journal import RunFolder, read_journal
from grpo_ops.specs import RunSpec, load_spec
from grpo_ops.sweep import run_key, train
from tests.processes import wait_until

ROOT = Path(__file__).parents[1]
SMALL = (
    "model.id=starter:arith-xs@0.3",
    "grpo.per_device_train_batch_size=16",
    "evaluation.prompts=32",
    "task.train_size=512",
)


@pytest.fixture
def home(tmp_path, monkeypatch, starter_cache):
    monkeypatch.setenv("GRPO_OPS_CACHE", str(starter_cache))
    monkeypatch.setenv("GRPO_OPS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return Home(tmp_path / "home")


def small(*settings):
    return load_spec(RunSpec, ROOT / "deployments/runs/demo.toml", (*SMALL, *settings))


def only_run(home):
    client = MlflowClient(home.tracking_uri)
    (run,) = client.search_runs([client.get_experiment_by_name("grpo-ops").experiment_id])
    return client, run


def test_c5_c17_a3_kill_minus_9_at_step_60_of_120_then_resume(home):
    spec = small("grpo.max_steps=120", "checkpoints.every=20")
    folder = RunFolder(home.runs / run_key(spec, home))
    killed = []

    def kill_at_60(board):
        if board.rows[0].step > 60 and not killed:  # the checkpoint of step 60 is complete by then
            for process in psutil.process_iter(["cmdline"]):
                if str(folder.path) in (process.info["cmdline"] or ()):
                    process.send_signal(signal.SIGKILL)
                    killed.append(process.pid)

    first = train(spec, home, show=kill_at_60)
    assert killed
    assert first.result.ending is Ending.FAILED
    assert first.result.reason.startswith("killed by SIGKILL")
    assert only_run(home)[1].info.status == "FAILED"
    at_40 = {entry["step"]: entry["sha256"] for entry in read_journal(folder.journal) if entry["kind"] == "checkpoint"}

    second = train(spec, home)
    assert (second.result.ending, second.result.attempt) == (Ending.FINISHED, 1)
    starts = [entry["resumed_from"] for entry in read_journal(folder.journal) if entry["kind"] == "start"]
    assert starts == [None, 60]
    client, run = only_run(home)
    assert run.info.status == "FINISHED"
    steps = [point.step for point in client.get_metric_history(run.info.run_id, "reward")]
    assert sorted(steps) == list(range(1, 121))
    assert second.result.last.step == 120
    assert second.result.last.sha256 not in at_40.values()


@pytest.mark.parametrize(("name", "words"), [("raises", "no such answer key"), ("nan", "nan")])
def test_c3_a_wrong_reward_fails_the_run_and_names_itself(home, name, words):
    spec = small(f"rewards=[{{name='tests.bad_rewards:{name}'}}]", "grpo.max_steps=5")
    report = train(spec, home, allow_import_paths=True)
    assert report.result.ending is Ending.FAILED
    assert report.result.reason.startswith("RewardError: ")
    assert name in report.result.reason
    assert words in report.result.reason
    assert only_run(home)[1].info.status == "FAILED"
    assert not MlflowClient(home.tracking_uri).search_registered_models()


def test_an_import_path_is_refused_where_it_was_not_allowed(home):
    report = train(small("rewards=[{name='tests.bad_rewards:raises'}]", "grpo.max_steps=5"), home)
    assert report.result.ending is Ending.FAILED
    assert "tests.bad_rewards:raises" in report.result.reason


def test_a10_an_unreachable_mlflow_stops_nothing(home, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    report = train(small("grpo.max_steps=8", "evaluation.every=4"), home)
    assert (report.result.ending, report.result.step) == (Ending.FINISHED, 8)
    assert (home.runs / report.result.key / "tracking.pending").is_file()


def entries_of(folder):
    return read_journal(folder.journal) if folder.journal.exists() else []


@pytest.fixture
def little_disk(home):
    """The runs of the home on a disk of 1 MB that can be made larger."""
    home.runs.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(home.runs)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting a tmpfs is not permitted here")
    yield lambda size: subprocess.run(["mount", "-o", f"remount,size={size}", str(home.runs)], check=True)
    subprocess.run(["umount", str(home.runs)], check=True)


def test_a_full_disk_is_a_clear_failure_and_the_run_goes_on_when_there_is_room(home, little_disk):
    spec = small("grpo.max_steps=30", "checkpoints.every=5", "evaluation.every=5")
    report = train(spec, home)
    assert report.result.ending is Ending.FAILED
    assert report.result.reason.startswith("the disk is full")
    assert only_run(home)[1].info.status == "FAILED"
    little_disk("64m")
    again = train(spec, home)
    assert again.result.ending is Ending.FINISHED
    client, run = only_run(home)
    assert run.info.status == "FINISHED"
    steps = [point.step for point in client.get_metric_history(run.info.run_id, "reward")]
    assert sorted(steps) == list(range(1, 31))


def test_the_trainer_ends_with_its_killed_parent(home, tmp_path):
    spec = small("grpo.max_steps=5000", "grpo.learning_rate=1e-6")
    code = (
        "from tests.test_end_to_end import small\nfrom grpo_ops.home import Home\nfrom grpo_ops.sweep import train\n"
        "from pathlib import Path\ntrain(small('grpo.max_steps=5000', 'grpo.learning_rate=1e-6'), Home(Path({!r})))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code.format(str(home.root))], cwd=ROOT)
    folder = RunFolder(home.runs / run_key(spec, home))
    wait_until(lambda: any(entry["kind"] == "step" for entry in entries_of(folder)), process=parent)
    parent.kill()
    parent.wait()
    wait_until(lambda: not any(str(folder.path) in (p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"])))
    assert json.loads(folder.result.read_text())["stop"]["reason"] in ("preempted", "orphaned")
    assert [e for e in read_journal(folder.journal) if e["kind"] == "checkpoint"]
