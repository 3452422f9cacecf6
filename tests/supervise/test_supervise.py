"""Supervision of real child processes: how they end, that they end, that nothing is left."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from grpo_ops.ending import Ending
from grpo_ops.errors import SupervisionError
from grpo_ops.home import Home
from grpo_ops.processes import is_running
from grpo_ops.specs import RunSpec, load_spec
from grpo_ops.supervise import Ended, Fleet, Lines, ProcessLauncher, conclude, follow, prepare, run_folder
from grpo_ops.supervise.prepare import Lock
from tests.processes import PATIENCE, wait_until

TESTS = Path(__file__).parents[1]
SCRIPTED = ProcessLauncher(command=(sys.executable, str(TESTS / "scripted_trainer.py")))
SPEC = load_spec(RunSpec, TESTS.parent / "deployments/runs/demo.toml", ("grpo.max_steps=60",))


@pytest.fixture
def folder(tmp_path):
    return run_folder(Home(tmp_path), "demo-000")


def run_to_its_end(folder, *, at=None, no_progress_seconds=60.0):
    """Start the scripted trainer and follow it; `at(run, step)` is called for each step."""
    prepare(folder, SPEC)
    fleet = Fleet(SCRIPTED)
    fleet.start(folder, no_progress_seconds=no_progress_seconds)
    steps, result = [], None
    for event in follow(fleet, poll_seconds=0.01):
        if isinstance(event, Lines):
            new = [entry["step"] for entry in event.entries if entry["kind"] == "step"]
            steps += new
            for step in new if at else ():
                at(event.run, step)
        elif isinstance(event, Ended):
            result = event.result
    return steps, result


def once(step, action):
    return lambda run, now: action(run) if now == step else None


def test_a_run_that_finishes(folder):
    steps, result = run_to_its_end(folder)
    assert steps == list(range(1, 61))
    assert (result.ending, result.reason) == (Ending.FINISHED, "all 60 steps done")
    assert (result.step, result.max_steps, len(result.curve), len(result.evaluations)) == (60, 60, 60, 7)
    assert result.best.step == 60
    assert result.best.mean == result.best_evaluation.mean
    assert result.fit.params


@pytest.mark.parametrize("reason", ["hopeless", "plateau", "diverged", "cancelled"])
def test_a_stop_request_ends_it_with_its_reason(folder, reason, monkeypatch):
    monkeypatch.setenv("TRAINER_MOOD", "hold:40")
    _, result = run_to_its_end(folder, at=once(20, lambda run: run.folder.request_stop(reason, "because")))
    assert (result.ending, result.reason) == (Ending(reason), "because")
    assert 20 <= result.step < 60


def test_an_exception_is_named(folder, monkeypatch):
    monkeypatch.setenv("TRAINER_MOOD", "crash:7")
    _, result = run_to_its_end(folder)
    assert (result.ending, result.step) == (Ending.FAILED, 7)
    assert result.reason == "exit code 1: RuntimeError: crashed at step 7"


def test_a2_kill_minus_9_is_named(folder, monkeypatch):
    monkeypatch.setenv("TRAINER_MOOD", "hold:40")
    _, result = run_to_its_end(folder, at=once(5, lambda run: run.trainer.process.send_signal(signal.SIGKILL)))
    assert result.ending is Ending.FAILED
    assert result.reason.startswith("killed by SIGKILL (out of memory")


def test_c11_no_progress_is_a_failure_and_nothing_is_left(folder, monkeypatch):
    monkeypatch.setenv("TRAINER_MOOD", "hang:9")
    _, result = run_to_its_end(folder, no_progress_seconds=2.0)
    assert result.ending is Ending.FAILED
    assert result.reason.startswith("no progress: nothing written for 2 s")
    assert not [p for p in psutil.process_iter(["cmdline"]) if str(folder.path) in (p.info["cmdline"] or ())]


def test_an_attempt_more_continues_the_journal(folder, monkeypatch):
    monkeypatch.setenv("TRAINER_MOOD", "crash:33")
    run_to_its_end(folder)
    steps, result = run_to_its_end(folder)
    assert steps == list(range(30, 61))
    assert (result.attempt, result.ending, result.curve.steps) == (1, Ending.FINISHED, tuple(range(1, 61)))


def test_another_live_supervisor_is_refused(folder):
    other = subprocess.Popen(["sleep", "600"])
    try:
        prepare(folder, SPEC)
        text = folder.spec.read_text().replace(f'"pid": {os.getpid()}', f'"pid": {other.pid}')
        started = psutil.Process(os.getpid()).create_time()
        folder.spec.write_text(text.replace(str(started), str(psutil.Process(other.pid).create_time())))
        with pytest.raises(SupervisionError, match=f"demo-000 is being run by process {other.pid}"):
            prepare(folder, SPEC)
    finally:
        other.kill()
        other.wait()
    assert prepare(folder, SPEC) == 1


def test_a_lock_has_one_holder(tmp_path):
    lock = Lock(tmp_path / "locks/demo", "study demo")
    with pytest.raises(SupervisionError, match=f"study demo is being run by process {os.getpid()}"):
        Lock(tmp_path / "locks/demo", "study demo")
    lock.release()
    Lock(tmp_path / "locks/demo", "study demo").release()


def test_a_grandchild_does_not_outlive_its_trainer(tmp_path):
    code = "import subprocess, sys, time; subprocess.Popen(['sleep', '600']); print('up', flush=True); time.sleep(600)"
    folder = run_folder(Home(tmp_path), "tree")
    prepare(folder, SPEC)
    trainer = ProcessLauncher(command=(sys.executable, "-c", code)).start(folder)
    wait_until(lambda: b"up" in folder.log.read_bytes(), process=trainer.process)
    (grandchild,) = psutil.Process(trainer.process.pid).children(recursive=True)
    trainer.end()
    assert not grandchild.is_running() or grandchild.status() == psutil.STATUS_ZOMBIE
    assert conclude(folder, trainer.returncode()).reason.startswith("killed by SIGTERM")


def test_grandchildren_of_a_killed_trainer_are_killed_too(tmp_path):
    code = "import subprocess, time; subprocess.Popen(['sleep', '600']); print('up', flush=True); time.sleep(600)"
    folder = run_folder(Home(tmp_path), "tree")
    prepare(folder, SPEC)
    fleet = Fleet(ProcessLauncher(command=(sys.executable, "-c", code)))
    run, grandchildren = fleet.start(folder), []
    for _ in follow(fleet):
        if not grandchildren:
            grandchildren = psutil.Process(run.trainer.process.pid).children(recursive=True)
        elif run.trainer.process.returncode is None and run.trainer._family:
            run.trainer.process.kill()
    assert grandchildren
    assert not [process for process in grandchildren if is_running(process)]


def test_a_trainer_that_others_wrote_is_waited_for_before_the_next_attempt(tmp_path):
    folder = run_folder(Home(tmp_path), "other")
    prepare(folder, SPEC)
    trainer = SCRIPTED.start(folder)
    wait_until(folder.journal.exists, process=trainer.process)
    document = folder.read_json(folder.spec)
    document["supervisor"] = {"pid": 2**22 + 1, "started": 0.0}  # as if its supervisor had been killed
    folder.spec.write_text(json.dumps(document))
    prepare(folder, SPEC)
    assert trainer.process.wait(PATIENCE) is not None
