"""A study in which a bad trial was stopped beside two good ones; each test gets a copy of its home."""

import os
import shutil
from pathlib import Path

import pytest

from grpo_ops.ending import Ending
from grpo_ops.home import Home
from grpo_ops.sweep import run_sweep
from tests.scripted_trainer import RELEASED
from tests.sweep.sweep_process import SCRIPTED, spec_with

GOOD, BAD = 9e-4, 1e-6
pytest.register_assert_rewrite("tests.sweep.helpers")  # its assertions say what they compared
POINTS = ", ".join(f'{{"grpo.learning_rate"={rate}}}' for rate in (GOOD, GOOD, BAD))
STOPPING = ("trials=3", "parallel=1", f"enqueue=[{POINTS}]")


def run_stopping(home: Home, *settings: str):
    """Run it: the bad trial waits at step 55 until it is stopped, so that it is stopped there or before."""

    def release(board):
        if board.count(Ending.HOPELESS):
            (home.root / RELEASED).touch()

    before = os.environ.get("TRAINER_MOOD")
    os.environ["TRAINER_MOOD"] = "hold:55:2"
    try:
        return run_sweep(spec_with(*STOPPING, *settings), home, launcher=SCRIPTED, show=release)
    finally:
        os.environ.pop("TRAINER_MOOD")
        if before is not None:
            os.environ["TRAINER_MOOD"] = before


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture(scope="session")
def recorded_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = Home(tmp_path_factory.mktemp("stopped") / "home")
    board = run_stopping(home)
    assert [row.state for row in board.rows] == ["finished", "finished", "hopeless"]
    return home.root


@pytest.fixture
def stopped_home(recorded_home: Path, tmp_path: Path) -> Home:
    return Home(Path(shutil.copytree(recorded_home, tmp_path / "home")))
