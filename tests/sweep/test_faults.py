"""What happens to machines: killed trials, signals to all, a full disk, a locked database. After each the same command
brings the study to its end, and nothing is lost, nothing RUNNING, the number of trials as asked, each step told once.

A killed coordinator, one interrupt, and one killed trial among others are in test_continued.py.
"""

import os
import re
import signal
import sqlite3
import subprocess
import time

import pytest
from optuna.trial import TrialState

from grpo_ops.home import Home
from grpo_ops.journal import RunFolder
from grpo_ops.sweep import run_sweep
from tests.processes import PATIENCE, wait_until
from tests.sweep.helpers import assert_whole, has_told, load, release, start_sweep, trainers
from tests.sweep.sweep_process import SCRIPTED, spec_with

LOCKED_SECONDS = 20
DISK_MB = 24


def told(home):
    return {trial.number: trial.value for trial in load(home).trials if trial.state.is_finished()}


def finish(home, spec, before):
    """Run the same command; what had been told before stays as it was."""
    run_sweep(spec, home, launcher=SCRIPTED)
    assert_whole(home, spec)
    after = load(home).trials
    assert {number: after[number].value for number in before} == before


@pytest.mark.parametrize("count", [1, 2])
def test_trials_killed_at_once_go_on_from_their_checkpoints(home, monkeypatch, count):
    spec = spec_with("trials=3", "pruner.name=none")
    killed = []

    def kill(board):
        if not killed and len(board.rows) == 2 and all(row.step >= 40 for row in board.rows):
            killed.extend(trainers(home)[:count])
            for trainer in killed:
                trainer.send_signal(signal.SIGKILL)
            release(home)

    monkeypatch.setenv("TRAINER_MOOD", "hold:40")
    board = run_sweep(spec, home, launcher=SCRIPTED, show=kill)
    assert len(killed) == count
    assert_whole(home, spec)
    assert sorted(row.attempt for row in board.rows) == [0] * (3 - count) + [1] * count
    failed = [trial for trial in load(home).trials if trial.state is TrialState.FAIL]
    assert {trial.user_attrs["grpo_ops.reason"] for trial in failed} == {
        "killed by SIGKILL (out of memory, or somebody's kill -9)"
    }
    assert len(failed) == count


def test_sigterm_to_the_whole_group_is_a_cancelled_sweep(home):
    spec = spec_with("pruner.name=none")
    process = start_sweep(home, "pruner.name=none", mood="hold:40:2")
    wait_until(lambda: has_told(home, 2) and len(trainers(home)) == 2, process=process)
    for trainer in trainers(home):
        trainer.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    process.wait(PATIENCE)
    assert not trainers(home)
    assert not [trial for trial in load(home).trials if trial.state is TrialState.RUNNING]
    finish(home, spec, told(home))


def test_a_second_interrupt_ends_deaf_trainers_at_once(home):
    spec = spec_with("trials=2")
    process = start_sweep(home, "trials=2", mood="hang:40")
    wait_until(lambda: len(trainers(home)) == 2 and all(last_step(path) == 40 for path in runs(home)), process=process)
    process.send_signal(signal.SIGINT)
    wait_until(lambda: all(RunFolder(path).stop.exists() for path in runs(home)), process=process)
    assert len(trainers(home)) == 2
    process.send_signal(signal.SIGINT)
    process.wait(PATIENCE)
    assert not trainers(home)
    endings = [trial.user_attrs.get("grpo_ops.ending") for trial in load(home).trials]
    assert endings == ["cancelled", "cancelled"]
    finish(home, spec, {})


def test_a_locked_database_is_waited_for(home):
    spec = spec_with("pruner.name=none")
    process = start_sweep(home, "pruner.name=none", mood="hold:40:2")
    wait_until(lambda: has_told(home, 2) and len(trainers(home)) == 2, process=process)
    lock = sqlite3.connect(home.root / "optuna.db", timeout=60, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    release(home)
    time.sleep(LOCKED_SECONDS)
    assert process.poll() is None
    lock.execute("ROLLBACK")
    lock.close()
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said.decode()
    assert_whole(home, spec)


@pytest.fixture
def small_disk(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("mounting a small disk needs root and the right to mount")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_ends_the_sweep_with_a_sentence_and_it_goes_on_when_there_is_room(small_disk):
    home = Home(small_disk / "home")
    spec = spec_with("pruner.name=none")
    process = start_sweep(home, "pruner.name=none", mood="hold:40:2")
    wait_until(lambda: has_told(home, 2) and len(trainers(home)) == 2, process=process)
    ballast = small_disk / "ballast"
    release(home)
    fill_up(ballast)
    _, said = process.communicate(timeout=PATIENCE)
    last = said.decode().strip().splitlines()[-1]
    assert process.returncode != 0
    sentence = r"(SweepError|SupervisionError): .*(space is left|space left|is full)"
    assert re.search(sentence, last), said.decode()[-3000:]
    assert not trainers(home)
    ballast.unlink()
    finish(home, spec, {number: value for number, value in told(home).items() if value is not None})


def fill_up(path):
    with path.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


def runs(home):
    return list(home.runs.glob("*"))


def last_step(path):
    return max((entry["step"] for entry in RunFolder(path).entries() if entry["kind"] == "step"), default=0)
