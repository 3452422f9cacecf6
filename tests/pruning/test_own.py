import numpy as np
import pytest

from grpo_ops.curve import RewardCurve
from grpo_ops.pruning import PruneReason, PruneRule, TrialView, decide

N = 100
X = np.arange(1, N + 1) / N


def run(levels: np.ndarray, rule: PruneRule, seed: int = 0, noise: float = 0.03) -> tuple[int, PruneReason] | None:
    """Step and reason of the stop of a trial that is alone in the world."""
    rewards = levels + np.random.default_rng(seed).normal(0, noise, N)
    whole = RewardCurve(tuple(range(1, N + 1)), tuple(map(float, rewards)), N)
    for m in range(1, N + 1):
        decision = decide(TrialView("alone", whole.head(m)), (), rule)
        if decision.stop:
            return m, decision.reason
    return None


RISE = 0.2 + 0.6 * (1 - np.exp(-X / 0.3))
QUICK = 0.2 + 0.6 * (1 - np.exp(-X / 0.06))
FALL = np.where(X < 0.4, QUICK, 0.05)
DIP = np.where((X > 0.4) & (X < 0.46), 0.3, QUICK)
FLAT = np.full(N, 0.4)


@pytest.mark.parametrize("seed", range(5))
def test_a_collapse_is_stopped_soon_but_not_at_once(seed):
    step, reason = run(FALL, PruneRule(), seed)
    assert reason is PruneReason.DIVERGED
    assert 45 <= step <= 70


@pytest.mark.parametrize("levels", [RISE, QUICK, DIP, FLAT, -0.03 * RISE])
@pytest.mark.parametrize("seed", range(5))
def test_healthy_noisy_and_slightly_sinking_runs_are_not(levels, seed):
    assert run(levels, PruneRule(), seed) is None


def test_the_collapse_stop_can_be_switched_off():
    assert run(FALL, PruneRule(collapse=False)) is None


def test_a_collapse_upwards_is_one_where_less_is_better():
    assert run(-FALL, PruneRule(direction="minimize"))[1] is PruneReason.DIVERGED


@pytest.mark.parametrize("seed", range(5))
def test_a_plateau_is_called_after_it_has_begun(seed):
    step, reason = run(QUICK, PruneRule(plateau=True, min_gain=0.05), seed, noise=0.01)
    assert reason is PruneReason.PLATEAU
    assert 40 <= step <= 90


@pytest.mark.parametrize("levels", [RISE, FLAT, 0.2 + 0.3 * X])
@pytest.mark.parametrize("seed", range(5))
def test_what_still_rises_or_never_rose_has_no_plateau(levels, seed):
    assert run(levels, PruneRule(plateau=True), seed, noise=0.01) is None


def test_the_plateau_stop_is_off_unless_asked_for():
    assert run(QUICK, PruneRule(), noise=0.01) is None


def test_a_hopeless_plateau_is_hopeless(finished):
    rewards = QUICK - 0.3
    whole = RewardCurve(tuple(range(1, N + 1)), tuple(map(float, rewards)), N)
    rule = PruneRule(plateau=True)
    found = (decide(TrialView("low", whole.head(m)), finished, rule) for m in range(1, N + 1))
    assert next(decision for decision in found if decision.stop).reason is PruneReason.HOPELESS
