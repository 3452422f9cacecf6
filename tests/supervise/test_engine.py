"""Rows C12 and C14: a run and its vLLM server live and end together. The server here is a small one of our own."""

import contextlib
import json
import os
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
from grpo_ops.supervise import Ended, Fleet, Lines, ProcessLauncher, follow, prepare, run_folder
from grpo_ops.supervise.engine import Patience, start_engine
from tests.processes import wait_until

HERE = Path(__file__).parent
RUN = HERE.parents[1] / "deployments/runs/demo.toml"
SERVED = ("grpo.max_steps=20", "rollouts.engine=vllm-server")
SERVER = (sys.executable, str(HERE / "fake_engine.py"))
# `answer` is far above what an answer takes on a loaded machine: only a server that hangs is silent for so long.
LAUNCHER = ProcessLauncher(
    command=(sys.executable, str(HERE / "asking_trainer.py")),
    server=SERVER,
    patience=Patience(starting=0.2, every=0.5, answer=5.0, misses=2),
)


@pytest.fixture
def folder(tmp_path):
    return run_folder(Home(tmp_path), "served-000")


def run_to_its_end(folder, *settings, no_progress_seconds=300.0, at=None):
    """Follow a served run; `at(fleet, run)` is called each round."""
    prepare(folder, load_spec(RunSpec, RUN, (*SERVED, *settings)))
    fleet = Fleet(LAUNCHER)
    run = fleet.start(folder, no_progress_seconds=no_progress_seconds)
    steps, result = [], None
    for event in follow(fleet, poll_seconds=0.02):
        if isinstance(event, Lines):
            steps += [entry["step"] for entry in event.entries if entry["kind"] == "step"]
        elif isinstance(event, Ended):
            result = event.result
        if at is not None:
            at(fleet, run)
    assert not alive(folder)
    return steps, result


def starts(folder):
    file = folder.path / "starts.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def alive(folder):
    """All that a run has started and that still runs."""
    pids = [pid for start in starts(folder) for pid in (start["pid"], start["child"])]
    pids += [entry["pid"] for entry in folder.entries() if entry["kind"] == "start"]
    with contextlib.suppress(FileNotFoundError):
        pids.append(json.loads((folder.path / "engine.json").read_text())["pid"])
    return [pid for pid in pids if psutil.pid_exists(pid) and is_running(psutil.Process(pid))]


def last_step(folder):
    return max((entry["step"] for entry in folder.entries() if entry["kind"] == "step"), default=0)


def gpus(path, monkeypatch, count):
    """A machine whose nvidia-smi shows so many GPUs."""
    lines = "\\n".join(f"{index}, GPU-{index}, 81559" for index in range(count))
    program = path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\nprintf '{lines}\\n'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(path), prepend=":")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def test_c14_a_server_lives_as_long_as_its_run_and_has_gpus_of_its_own(folder, tmp_path, monkeypatch):
    gpus(tmp_path, monkeypatch, 3)
    steps, result = run_to_its_end(folder)
    assert (steps, result.ending, result.attempt) == (list(range(1, 21)), Ending.FINISHED, 0)
    (start,) = starts(folder)
    (trainer,) = [entry for entry in folder.entries() if entry["kind"] == "start"]
    assert (start["devices"], trainer["devices"]) == ("2", "0,1")


def test_without_a_gpu_for_the_trainer_nothing_is_started(folder, tmp_path, monkeypatch):
    gpus(tmp_path, monkeypatch, 1)
    prepare(folder, load_spec(RunSpec, RUN, SERVED))
    with pytest.raises(SupervisionError, match=r"sees the GPUs 0: its vLLM server takes 0, which leaves too few"):
        LAUNCHER.start(folder)
    assert not starts(folder)


def test_c12_a_connection_that_is_closed_once_changes_nothing(folder, monkeypatch):
    monkeypatch.setenv("ENGINE_MOOD", "close:7")
    steps, result = run_to_its_end(folder)
    assert (steps, result.ending, result.attempt) == (list(range(1, 21)), Ending.FINISHED, 0)
    assert len(starts(folder)) == 1


@pytest.mark.parametrize("mood", ["die:8", "hang:8"])
def test_c12_a_server_that_is_lost_is_started_again_and_the_run_goes_on_from_its_checkpoint(folder, monkeypatch, mood):
    monkeypatch.setenv("ENGINE_MOOD", mood)
    steps, result = run_to_its_end(folder)
    assert steps == [*range(1, 8), *range(6, 21)]
    assert (result.ending, result.attempt, result.curve.steps) == (Ending.FINISHED, 1, tuple(range(1, 21)))
    assert len(starts(folder)) == 2


def test_a_server_that_is_lost_twice_ends_the_run_with_what_it_said(folder, monkeypatch):
    monkeypatch.setenv("ENGINE_MOOD", "die:3:always")
    steps, result = run_to_its_end(folder)
    assert (steps, result.ending, len(starts(folder))) == ([1, 2, 1, 2], Ending.FAILED, 2)
    said = "the vLLM server ended with exit code 7: RuntimeError: the engine core died"
    assert result.reason == f"{said}, after it had been started again once"


def test_a_server_that_cannot_start_is_no_trainers_failure(folder, monkeypatch):
    monkeypatch.setenv("ENGINE_MOOD", "exit::always")
    steps, result = run_to_its_end(folder)
    assert (steps, folder.entries(), result.ending, len(starts(folder))) == ([], [], Ending.FAILED, 2)
    assert "exit code 1: ValueError: no such model" in result.reason


def test_the_start_of_a_server_has_its_own_limit_and_is_not_taken_for_a_stuck_trainer(folder, monkeypatch):
    monkeypatch.setenv("ENGINE_MOOD", "sick::always")
    _, result = run_to_its_end(folder, "rollouts.vllm_server_timeout=3", no_progress_seconds=0.5)
    assert result.ending is Ending.FAILED
    assert result.reason.startswith("the vLLM server was not healthy 3 s after its start: see ")
    assert not folder.entries()


def test_a_run_that_is_stopped_before_its_server_is_up_ends_with_that_reason(folder, monkeypatch):
    monkeypatch.setenv("ENGINE_MOOD", "sick::always")
    stop = lambda fleet, run: starts(folder) and run.folder.request_stop("cancelled", "enough")  # noqa: E731
    steps, result = run_to_its_end(folder, at=stop)
    assert (steps, result.ending, result.reason) == ([], Ending.CANCELLED, "enough")


def test_a_trainer_that_fails_by_itself_is_not_started_again(folder, monkeypatch):
    monkeypatch.setenv("TRAINER_MOOD", "crash:4")
    steps, result = run_to_its_end(folder)
    assert (steps, result.ending, len(starts(folder))) == ([1, 2, 3, 4], Ending.FAILED, 1)
    assert result.reason == "exit code 1: RuntimeError: crashed at step 4"


def test_ending_a_run_ends_its_server(folder, monkeypatch):
    monkeypatch.setenv("TRAINER_MOOD", "wait:6")
    end = lambda fleet, run: last_step(run.folder) == 6 and fleet.end_all()  # noqa: E731
    _, result = run_to_its_end(folder, at=end)
    assert (result.ending, result.step, len(starts(folder))) == (Ending.CANCELLED, 6, 1)


def test_kill_minus_9_of_the_supervisor_leaves_no_server(folder, tmp_path):
    """Neither the server nor what it started in a session of its own: something there would hold a GPU."""
    code = f"""
import sys
sys.path.insert(0, {str(HERE.parents[1])!r})
from pathlib import Path
import importlib.util
from grpo_ops.home import Home
from grpo_ops.supervise import run_folder
spec = importlib.util.spec_from_file_location("engine_tests", {str(HERE / "test_engine.py")!r})
tests = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tests)
tests.run_to_its_end(run_folder(Home(Path({str(tmp_path)!r})), "served-000"))
"""
    environment = os.environ | {"TRAINER_MOOD": "wait:6"}
    supervisor = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE)
    wait_until(lambda: last_step(folder) == 6, process=supervisor)
    assert len(alive(folder)) == 4
    supervisor.kill()
    supervisor.wait()
    (trainer,) = [entry["pid"] for entry in folder.entries() if entry["kind"] == "start"]
    wait_until(lambda: set(alive(folder)) <= {trainer})
    psutil.Process(trainer).kill()  # this scripted one does not watch its supervisor; the real one does


def test_a_server_that_was_left_behind_is_ended_before_the_next_one_starts(folder):
    prepare(folder, load_spec(RunSpec, RUN, SERVED))
    engines = []
    try:
        for _ in range(2):
            engine = start_engine(folder, SERVER, {}, 240.0, LAUNCHER.patience)
            engines.append(engine)
            wait_until(engine.answers, process=engine.child.process)
        first, second = (engine.child.process for engine in engines)
        assert (first.poll() is not None, second.poll()) == (True, None)
        assert len(alive(folder)) == 3
    finally:
        for engine in engines:
            engine.child.end()
    assert not alive(folder)
