from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from grpo_ops.curve import RewardCurve

CURVES = Path(__file__).parents[2].parent / "shared" / "curves"


@pytest.fixture
def rising() -> Callable[..., RewardCurve]:
    """A curve of an exponential law with noise: rising(end, tau, noise, n, upto, seed)."""

    def make(end=0.8, tau=0.3, noise=0.04, n=200, upto=None, seed=0, start=0.2) -> RewardCurve:
        x = np.arange(1, n + 1) / n
        y = end - (end - start) * np.exp(-x / tau) + np.random.default_rng(seed).normal(0, noise, n)
        return RewardCurve(tuple(range(1, n + 1)), tuple(map(float, y)), n).head(upto or n)

    return make


@pytest.fixture
def public_curves() -> list[Path]:
    if not CURVES.is_dir():
        pytest.skip("the public curves are not on this machine")
    return sorted(CURVES.glob("*.csv"))
