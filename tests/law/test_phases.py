import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_ops.curve import RewardCurve
from grpo_ops.law import Phase, forecast
from grpo_ops.law.phases import phases
from grpo_ops.law.series import Series

SLOW, RISE, PLATEAU, DECLINE, NONE = Phase
SHAPES = {
    "three": lambda x: 0.1 + 0.7 / (1 + np.exp(-20 * (x - 0.4))),
    "exponential": lambda x: 0.2 + 0.6 * (1 - np.exp(-x / 0.12)),
    "line": lambda x: 0.2 + 0.6 * x,
    "flat": lambda x: 0.4 + 0 * x,
    "hump": lambda x: 0.2 + 0.6 * np.exp(-(((x - 0.4) / 0.2) ** 2)),
    "collapse": lambda x: np.where(x < 0.6, 0.2 + 0.6 * (1 - np.exp(-x / 0.12)), 0.1),
    "late": lambda x: 0.1 + 0.7 / (1 + np.exp(-30 * (x - 0.7))),
    "stairs": lambda x: 0.2 + 0.3 * (x > 0.3) + 0.3 * (x > 0.65),
    "fall": lambda x: 0.8 - 0.5 * x,
}


def curve(rewards) -> RewardCurve:
    return RewardCurve(tuple(range(1, len(rewards) + 1)), tuple(map(float, rewards)), len(rewards))


def planted(shape: str, n: int, noise: float, seed: int) -> RewardCurve:
    levels = SHAPES[shape](np.arange(1, n + 1) / n)
    return curve(levels + np.random.default_rng(seed).normal(0, noise, n))


def names(found) -> list[Phase]:
    return [span.phase for span in found]


PLANTED = [
    # shape, points, noise, share of the run seen, phase
    ("three", 50, 0.05, 1.0, PLATEAU),
    ("three", 200, 0.1, 0.42, RISE),
    ("three", 200, 0.1, 1.0, PLATEAU),
    ("three", 500, 0.15, 1.0, PLATEAU),
    ("exponential", 30, 0.05, 1.0, PLATEAU),
    ("exponential", 200, 0.05, 0.13, RISE),
    ("exponential", 200, 0.05, 0.7, PLATEAU),
    ("exponential", 500, 0.1, 1.0, PLATEAU),
    ("line", 30, 0.05, 1.0, RISE),
    ("line", 200, 0.1, 1.0, RISE),
    ("line", 500, 0.15, 1.0, RISE),
    ("flat", 30, 0.1, 1.0, NONE),
    ("flat", 50, 0.1, 0.6, NONE),
    ("flat", 200, 0.1, 1.0, NONE),
    ("flat", 500, 0.1, 0.5, NONE),
    ("hump", 30, 0.05, 1.0, DECLINE),
    ("hump", 200, 0.05, 0.3, RISE),
    ("hump", 200, 0.1, 0.7, DECLINE),
    ("hump", 500, 0.15, 1.0, DECLINE),
    ("collapse", 30, 0.05, 1.0, DECLINE),
    ("collapse", 200, 0.1, 1.0, DECLINE),
    ("late", 50, 0.05, 0.5, NONE),
    ("late", 200, 0.1, 0.5, NONE),
    ("late", 200, 0.1, 0.75, RISE),
    ("late", 500, 0.1, 1.0, PLATEAU),
    ("stairs", 200, 0.05, 0.6, PLATEAU),
    ("stairs", 500, 0.05, 1.0, PLATEAU),
    ("fall", 30, 0.05, 1.0, DECLINE),
    ("fall", 200, 0.1, 1.0, DECLINE),
]


@pytest.mark.parametrize(("shape", "n", "noise", "upto", "phase"), PLANTED)
def test_the_current_phase_of_planted_curves(shape, n, noise, upto, phase):
    found = [phases(planted(shape, n, noise, seed).head(round(upto * n)))[-1].phase for seed in range(10)]
    assert found.count(phase) >= 9, found


HISTORIES = [
    # shape, noise, phases, where they change as shares of the run, tolerance
    ("three", 0.05, [SLOW, RISE, PLATEAU], [0.26, 0.54], 0.1),
    ("three", 0.15, [SLOW, RISE, PLATEAU], [0.26, 0.54], 0.12),
    ("exponential", 0.05, [RISE, PLATEAU], [0.25], 0.12),
    ("line", 0.05, [RISE], [], 0),
    ("flat", 0.05, [NONE], [], 0),
    ("late", 0.05, [SLOW, RISE, PLATEAU], [0.62, 0.8], 0.1),
    ("stairs", 0.05, [SLOW, RISE, PLATEAU, RISE, PLATEAU], [0.3, 0.32, 0.65, 0.67], 0.03),
    ("fall", 0.05, [DECLINE], [], 0),
]


@pytest.mark.parametrize("n", [200, 500])
@pytest.mark.parametrize(("shape", "noise", "expected", "changes", "tolerance"), HISTORIES)
def test_the_history_and_the_steps_of_its_changes(shape, noise, expected, changes, tolerance, n):
    found = [phases(planted(shape, n, noise, seed)) for seed in range(10)]
    right = [spans for spans in found if names(spans) == expected]
    assert len(right) >= 8, [names(spans) for spans in found]
    steps = np.array([[span.start / n for span in spans[1:]] for spans in right])
    assert np.all(np.abs(np.median(steps, axis=0) - changes) <= tolerance)


def test_the_step_of_a_collapse():
    for seed in range(10):
        last = phases(planted("collapse", 200, 0.08, seed))[-1]
        assert last.phase is DECLINE and abs(last.start - 120) <= 4


def test_a_slow_start_is_one_if_a_rise_is_expected():
    series = Series.of(planted("late", 200, 0.05, 0).head(80))
    assert phases(series)[-1].phase is NONE
    assert phases(series, expected=0.1)[-1].phase is NONE
    assert phases(series, expected=0.8)[-1].phase is SLOW


def test_the_forecast_carries_the_current_phase():
    for shape, upto, phase in [("hump", 140, DECLINE), ("exponential", 180, PLATEAU), ("line", 100, RISE)]:
        assert forecast(planted(shape, 200, 0.03, 0).head(upto)).phase is phase


def changes_of_the_current_phase(whole: RewardCurve) -> int:
    seen = [phases(whole.head(m))[-1].phase for m in range(10, len(whole) + 1)]
    return sum(a is not b for a, b in itertools.pairwise(seen))


@pytest.mark.parametrize(("shape", "needed"), [("three", 2), ("exponential", 2), ("late", 2), ("flat", 0), ("hump", 3)])
def test_the_current_phase_does_not_flicker_as_a_curve_grows(shape, needed):
    counts = [
        changes_of_the_current_phase(planted(shape, 120, noise, seed)) for seed in range(5) for noise in (0.05, 0.15)
    ]
    assert np.median(counts) <= needed
    assert sorted(counts)[-2] <= needed + 2, counts


def test_noise_that_is_correlated_is_mostly_no_signal():
    quiet = 0
    for seed in range(40):
        shocks = np.random.default_rng(seed).normal(0, 1, 200)
        noise = [shocks[0]]
        for shock in shocks[1:]:
            noise.append(0.3 * noise[-1] + shock)
        quiet += names(phases(curve(noise))) == [NONE]
    assert quiet >= 33


@pytest.mark.parametrize("shape", ["line", "hump", "exponential"])
def test_confidence_grows_as_noise_shrinks(shape):
    def doubts(noise: float) -> float:
        return float(np.mean([1 - phases(planted(shape, 60, noise, seed))[-1].confidence for seed in range(20)]))

    assert doubts(0.02) <= doubts(0.1) <= doubts(0.25) + 0.02
    assert doubts(0.02) < 0.05


@pytest.mark.parametrize("outliers", [3.0, 10.0])
def test_outliers_mostly_make_no_phase(outliers):
    quiet = 0
    for seed in range(20):
        draws = np.random.default_rng(seed)
        noise = draws.normal(0, 1, 150) + outliers * (draws.random(150) < 0.05)
        quiet += names(phases(curve(noise))) == [NONE]
    assert quiet >= 18


@pytest.mark.parametrize("rewards", [(), (0.5,), (0.1, 0.9), (0.5,) * 5, (0.5,) * 40])
def test_what_is_too_short_or_constant_has_no_signal(rewards):
    found = phases(curve(rewards))
    assert names(found) == [NONE] * bool(rewards)
    assert [span.confidence for span in found] == [float(len(rewards) > 5)] * bool(rewards)
    assert phases(curve(rewards), expected=0.5) == found


REWARDS = st.one_of(
    st.lists(st.floats(-1e6, 1e6), max_size=60),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=60),
    st.lists(st.sampled_from([0.0, 0.125, 1.0]), max_size=120),
    st.builds(lambda a, b: [0.0] * a + [1.0] * b, st.integers(0, 300), st.integers(0, 300)),
)


@settings(max_examples=150, deadline=None)
@given(rewards=REWARDS, gaps=st.lists(st.integers(1, 50), min_size=600, max_size=600))
def test_any_curve_has_phases_without_gaps(rewards, gaps):
    steps = tuple(itertools.accumulate(gaps[: len(rewards)]))
    found = phases(RewardCurve(steps, tuple(rewards)))
    assert bool(found) == bool(rewards)
    if found:
        assert (found[0].start, found[-1].end) == (steps[0], steps[-1])
    assert all(a.end == b.start and a.phase is not b.phase for a, b in itertools.pairwise(found))
    assert all(span.start < span.end for span in found[:-1])
    assert all(0 <= span.confidence <= 1 for span in found)
    assert json.dumps([span.as_dict() for span in found], allow_nan=False)


@settings(max_examples=60, deadline=None)
@given(
    shape=st.sampled_from(sorted(SHAPES)),
    seed=st.integers(0, 1000),
    n=st.sampled_from([25, 60, 200, 450]),
    scale=st.sampled_from([0.01, 0.5, 8.0, 1024.0]),
    shift=st.sampled_from([-4.0, 0.25, 16.0]),
    offset=st.integers(0, 10_000),
    spacing=st.integers(1, 100),
)
def test_scale_shift_offset_and_spacing_change_nothing(shape, seed, n, scale, shift, offset, spacing):
    own = planted(shape, n, 0.1, seed)
    steps = tuple(offset + spacing * step for step in own.steps)
    other = RewardCurve(steps, tuple(scale * (reward + shift) for reward in own.rewards))
    found, expected = phases(other), phases(own)
    assert [(s.phase, (s.start - offset) // spacing, (s.end - offset) // spacing) for s in found] == [
        (s.phase, s.start, s.end) for s in expected
    ]
    assert [s.confidence for s in found] == pytest.approx([s.confidence for s in expected], abs=1e-4)


def test_public_curves_have_few_phases(public_curves):
    from grpo_ops.reading import read_curve

    found = [phases(read_curve(path).curve) for path in public_curves]
    assert all(1 <= len(spans) <= 9 for spans in found)
    assert np.mean([len(spans) for spans in found]) < 2.5
