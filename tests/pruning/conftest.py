import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from grpo_ops.curve import RewardCurve
from grpo_ops.pruning import TrialView

SWEEPS = Path(__file__).parents[2].parent / "shared" / "curves" / "sweeps"
N = 100


def make_curve(end=0.8, tau=0.3, noise=0.02, n=N, upto=None, seed=0, start=0.2, sign=1.0) -> RewardCurve:
    x = np.arange(1, n + 1) / n
    y = end - (end - start) * np.exp(-x / tau) + np.random.default_rng(seed).normal(0, noise, n)
    return RewardCurve(tuple(range(1, n + 1)), tuple(float(sign * value) for value in y), n).head(upto or n)


@pytest.fixture
def curve() -> Callable[..., RewardCurve]:
    return make_curve


@pytest.fixture
def finished() -> list[TrialView]:
    """Three finished trials that end at 0.6, 0.7 and 0.8."""
    ends = (0.6, 0.7, 0.8)
    return [TrialView(f"end-{end}", make_curve(end=end, seed=9), state="finished") for end in ends]


@pytest.fixture
def recorded() -> Callable[[str, str], list[tuple[tuple[int, ...], tuple[float, ...]]]]:
    """recorded(sweep, column of reward or mean): steps and values of each trial of a recorded sweep."""
    if not SWEEPS.is_dir():
        pytest.skip("the recorded sweeps are not on this machine")

    def load(name: str, column: str) -> list[tuple[tuple[int, ...], tuple[float, ...]]]:
        trials = json.loads((SWEEPS / f"{name}.json").read_text())["trials"]
        return [_columns(SWEEPS / trial["evals" if column == "mean" else "curve"], column) for trial in trials]

    return load


def _columns(path: Path, column: str) -> tuple[tuple[int, ...], tuple[float, ...]]:
    with path.open() as file:
        rows = {int(float(row["step"])): float(row[column]) for row in csv.DictReader(file) if row[column]}
    steps = tuple(sorted(rows))
    return steps, tuple(rows[step] for step in steps)
