"""A small study on disk, and the command line as one call in this process."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from grpo_ops.cli.app import app

STEPS, TRIALS = 40, 8


@pytest.fixture
def call(monkeypatch, tmp_path):
    """grpo-ops with these arguments: exit_code, stdout, stderr. Nothing is tracked, and the terminal is a wide pipe."""
    monkeypatch.setenv("GRPO_OPS_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="session")
def study(tmp_path_factory) -> Path:
    """A folder: sweep.json with eight trials in runs/, loss.json with the same where less is better, and half a run."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "runs").mkdir()
    trials = [_trial(folder, number) for number in range(TRIALS)]
    (folder / "sweep.json").write_text(json.dumps({"name": "small", "trials": trials}))
    (folder / "loss.json").write_text(json.dumps({"name": "loss", "direction": "minimize", "trials": trials}))
    half = [{"step": step, "reward": 0.2 + step / 100} for step in range(1, STEPS // 2 + 1)]
    (folder / "half").mkdir()
    (folder / "half" / "trainer_state.json").write_text(json.dumps({"max_steps": STEPS, "log_history": half}))
    return folder


def _trial(folder: Path, number: int) -> dict:
    rate = 10 ** (-5 + number / 4)
    x = np.arange(1, STEPS + 1) / STEPS
    rewards = 0.2 + 0.08 * number * (1 - np.exp(-x / 0.2)) + np.random.default_rng(number).normal(0, 0.02, STEPS)
    rows = [f"{step},{reward:.5f}" for step, reward in enumerate(rewards, 1)]
    name = f"runs/trial-{number}.csv"
    (folder / name).write_text("\n".join(["step,reward", *rows]))
    return {"trial": f"t{number}", "curve": name, "params": {"learning_rate": rate}}
