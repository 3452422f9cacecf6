"""Row C15: the engine that samples keeps old weights. The reward is flat, nothing fails, and its own numbers tell."""

import numpy as np
import pytest

from grpo_ops.law.diagnostics import Severity, Symptom, diagnose
from tests.law.diagnostics.planted import FLAT_MIDDLE, RISING, N, T, curve, noise, run

GAP = "sampling__sampling_logp_difference__mean"
STEADY = 0.01 + noise(0.002, 11)
GROWS = 0.004 + 0.15 * T + noise(0.002, 11)
DRIFTS = 0.004 + 0.006 * T + noise(0.001, 11)


def stale(shown):
    return next((found for found in diagnose(shown) if found.symptom is Symptom.STALE_ROLLOUTS), None)


@pytest.mark.parametrize(
    ("reward", "gap", "severity"),
    [
        (FLAT_MIDDLE, GROWS, Severity.CRITICAL),
        (RISING, GROWS, Severity.WARNING),
        (FLAT_MIDDLE, DRIFTS, Severity.WARNING),
        (RISING, DRIFTS, None),
        (FLAT_MIDDLE, STEADY, None),
        (RISING, STEADY, None),
        (FLAT_MIDDLE, GROWS[::-1], None),
    ],
    ids=["grows, flat", "grows, rises", "drifts, flat", "drifts, rises", "steady, flat", "steady, rises", "shrinks"],
)
def test_c15_what_the_gap_and_the_reward_say_together(reward, gap, severity):
    found = stale(run(reward, **{GAP: gap}))
    assert (found and found.severity) == severity


def test_c15_old_weights_halfway_through_a_good_run_are_dated():
    """The adapter is no longer synced from step 100 on: the gap opens there and the reward stands still."""
    gap = 0.005 + np.where(T > 0.5, 0.2 * (T - 0.5), 0.0) + noise(0.001, 11)
    found = stale(run(0.2 + 0.45 * np.minimum(T, 0.5) + noise(0.02), **{GAP: gap}))
    assert found.severity is Severity.CRITICAL
    assert 100 <= found.since_step <= 130


@pytest.mark.parametrize(
    "changed",
    [{}, {"grad_norm": np.exp(noise(0.3, 5))}, {"kl": 0.01 + 0.2 * T + noise(0.003, 4)}],
    ids=["as it is", "healthy gradient", "weights that move"],
)
def test_c15_a_flat_reward_alone_is_a_hard_task_and_no_evidence(changed):
    assert stale(run(FLAT_MIDDLE, **changed)) is None


@pytest.mark.parametrize(
    "changed",
    [{"grad_norm": 0.001 + np.exp(-30 * T)}, {"frac_reward_zero_std": 0.95 + 0 * T}],
    ids=["gradient died", "groups without spread"],
)
def test_c15_a_flat_reward_with_another_reason_lends_no_weight_to_a_small_drift(changed):
    assert stale(run(FLAT_MIDDLE, **{GAP: DRIFTS, **changed})) is None


def test_c15_noise_alone_raises_no_alarm():
    """200 flat runs with a steady gap, a fifth of it noise."""
    random = np.random.default_rng(5)
    steady = [random.normal(0.01, 0.002, N) for _ in range(200)]
    assert [index for index, gap in enumerate(steady) if stale(curve(FLAT_MIDDLE, **{GAP: gap}))] == []


def test_c15_the_evidence_names_both_ends():
    evidence = stale(run(FLAT_MIDDLE, **{GAP: GROWS})).evidence
    assert evidence.startswith("Sampler and trainer were 0.01") and "the reward is flat" in evidence
