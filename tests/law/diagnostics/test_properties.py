"""Whatever a trainer logs, diagnose answers; and it answers the same under every trainer's names."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_ops.curve import RewardCurve
from grpo_ops.law.diagnostics import Symptom, diagnose
from grpo_ops.law.diagnostics.names import ALIASES, Metric, component, is_auxiliary
from tests.law.diagnostics.planted import FLAT_MIDDLE, N, T, curve

NAMES = [
    *sorted({name for names in ALIASES.values() for name in names}),
    "rewards/format/mean",
    "rewards/correct/mean",
    *(f"kl_positional/{index}" for index in range(4)),
]
NUMBERS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True), st.floats(-2, 2), st.sampled_from([0.0, 1.0, math.nan])
)


@st.composite
def curves(draw):
    length = draw(st.integers(0, 40))
    steps = sorted(draw(st.sets(st.integers(0, 10**6), min_size=length, max_size=length)))
    finite = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([0.0, 0.5, 1.0]))
    rewards = draw(st.lists(finite, min_size=length, max_size=length))
    names = draw(st.sets(st.sampled_from(NAMES), max_size=6))
    columns = {name: tuple(draw(st.lists(NUMBERS, min_size=length, max_size=length))) for name in sorted(names)}
    return RewardCurve(tuple(steps), tuple(rewards), draw(st.none() | st.integers(0, 10**6)), columns)


@settings(deadline=None, max_examples=150)
@given(curves(), st.none() | curves(), st.none() | st.integers(1, 10**6), st.none() | st.integers(1, 4096))
def test_any_curve_is_answered_in_json(shown, evaluations, max_steps, completions):
    for finding in diagnose(shown, evaluations, max_steps, completions):
        json.dumps(finding.as_dict(), allow_nan=False)
        assert shown.steps[0] <= finding.since_step <= shown.steps[-1]
        assert finding.cost_steps >= 0


PLANTED = [
    (Metric.ZERO_SPREAD, 0.85 + 0 * T, Symptom.IDENTICAL),
    (Metric.ADVANTAGE_STD, np.where(T > 0.5, 0.01, 1.0), Symptom.ADVANTAGE_COLLAPSE),
    (Metric.ENTROPY, 1.2 * np.exp(-7 * T), Symptom.ENTROPY_COLLAPSE),
    (Metric.KL, 0.01 * np.exp(6 * T), Symptom.KL_GROWTH),
    (Metric.CLIPPED_UPDATES, np.where(T > 0.5, 0.5, 0.02), Symptom.CLIP_SATURATION),
    (Metric.GRAD_NORM, np.where(np.arange(N) % 40 == 30, 60.0, 1.0), Symptom.UNSTABLE_STEP_SIZE),
    (Metric.SAMPLING_GAP, 0.004 + 0.1 * T, Symptom.STALE_ROLLOUTS),
    (Metric.SAMPLING_GAP_MAX, 0.4 + 10 * T, Symptom.STALE_ROLLOUTS),
    (Metric.TRUNCATED, np.where(T > 0.5, 0.6, 0.02), Symptom.TRUNCATION),
    (Metric.LENGTH, np.where(T > 0.5, 20.0, 200.0), Symptom.LENGTH_COLLAPSE),
    (Metric.REPETITION, np.where(T > 0.5, 0.5, 0.02), Symptom.REPETITION),
    (Metric.EXPLAINED_VARIANCE, 0.5 - T, Symptom.VALUE_DIVERGENCE),
    (Metric.STEP_TIME, 10 * (1 + T), Symptom.SLOWDOWN),
]


@pytest.mark.parametrize(
    ("alias", "values", "symptom"),
    [(alias, values, symptom) for metric, values, symptom in PLANTED for alias in ALIASES[metric]],
)
def test_every_alias_is_read(alias, values, symptom):
    shown = RewardCurve(tuple(range(1, N + 1)), tuple(FLAT_MIDDLE), N, {alias: tuple(map(float, values))})
    assert symptom in {finding.symptom for finding in diagnose(shown)}


@pytest.mark.parametrize("count", [0, 7])
def test_a_metric_with_too_few_values_is_no_metric(count):
    few = [1.0 if index < count else math.nan for index in range(N)]
    assert diagnose(curve(FLAT_MIDDLE, frac_reward_zero_std=few)) == diagnose(curve(FLAT_MIDDLE))


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("rewards/format/mean", "format"),
        ("rewards/exact_match", "exact_match"),
        ("rewards/format/std", None),
        ("rewards/mean", None),
        ("reward", None),
        ("critic/rewards/mean", None),
    ],
)
def test_components_by_name(name, own):
    assert component(name) == own


@pytest.mark.parametrize(("name", "form"), [("format", True), ("xml_count", True), ("correctness", False)])
def test_rewards_for_form_are_told_by_name(name, form):
    assert is_auxiliary(name) is form
