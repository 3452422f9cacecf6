import numpy as np
import pytest

from grpo_ops.curve import RewardCurve
from grpo_ops.law import Phase, forecast

N = 200
X = np.arange(1, N + 1) / N


def noisy(levels: np.ndarray, seed: int) -> RewardCurve:
    rewards = levels + np.random.default_rng(seed).normal(0, 0.03, N)
    return RewardCurve(tuple(range(1, N + 1)), tuple(map(float, rewards)), N)


SATURATING = 0.2 + 0.6 * (1 - np.exp(-X / 0.12))
LATE = 0.1 + 0.7 / (1 + np.exp(-30 * (X - 0.5)))
HUMP = 0.2 + 0.6 * np.exp(-(((X - 0.4) / 0.2) ** 2))
FLAT = np.full(N, 0.4)

PLANTED = [
    (SATURATING, 20, Phase.RISE),
    (SATURATING, 140, Phase.PLATEAU),
    (SATURATING, 200, Phase.PLATEAU),
    (LATE, 110, Phase.RISE),
    (LATE, 195, Phase.PLATEAU),
    (HUMP, 60, Phase.RISE),
    (HUMP, 140, Phase.DECLINE),
    (HUMP, 200, Phase.DECLINE),
]


@pytest.mark.parametrize(("levels", "upto", "phase"), PLANTED)
def test_planted_phases_are_found(levels, upto, phase):
    found = [forecast(noisy(levels, seed).head(upto)).phase for seed in range(10)]
    assert found.count(phase) >= 8


@pytest.mark.parametrize("upto", [40, 60])
def test_before_a_late_rise_there_is_no_rise(upto):
    found = {forecast(noisy(LATE, seed).head(upto)).phase for seed in range(10)}
    assert found <= {Phase.SLOW_START, Phase.NO_SIGNAL, Phase.RISE}
    assert Phase.PLATEAU not in found and Phase.DECLINE not in found


def test_noise_alone_is_mostly_no_signal():
    found = [forecast(noisy(FLAT, seed).head(upto)).phase for seed in range(10) for upto in (60, 120, 200)]
    assert found.count(Phase.NO_SIGNAL) >= 20
