"""The arithmetic under the detectors, by example."""

import math

import numpy as np
import pytest

from grpo_ops.law.diagnostics.entropy import arrival
from grpo_ops.law.diagnostics.oscillation import turning_points
from grpo_ops.law.diagnostics.tracks import Track, standing_since


def track(values):
    made = Track.of(range(1, len(values) + 1), values)
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("values", "since"),
    [
        ([0, 0, 0, 0], None),
        ([0, 6, 6, 6], 1),
        ([6, 0, 4, 6, 4], 2),
        ([6, 6, 0], None),
        ([4, 4, 4], None),
        ([6, 4, 4], 0),
    ],
)
def test_standing_since_enters_high_and_leaves_low(values, since):
    assert standing_since(np.array(values, dtype=float), enter=5, leave=3) == since


@pytest.mark.parametrize(
    ("values", "turns"), [([0, 1, 2, 3], 0), ([0, 3, 0, 3, 0], 3), ([0, 0.4, 0, 0.4], 0), ([3, 0, 3], 1)]
)
def test_turning_points_are_further_apart_than_noise(values, turns):
    found = turning_points(np.array(values, dtype=float), 1.0)
    assert len([index for index in found if 0 < index < len(values) - 1]) == turns


def test_missing_values_are_left_out():
    made = track([1.0, math.nan, 2.0, math.inf, *range(3, 10)])
    assert len(made) == 9 and made.steps[1] == 3


@pytest.mark.parametrize("count", [0, 7])
def test_fewer_than_eight_values_make_no_track(count):
    assert Track.of(range(count), [1.0] * count) is None


@pytest.mark.parametrize(
    ("values", "rises", "falls"),
    [(np.arange(50), True, False), (-np.arange(50), False, True), (np.ones(50), False, False)],
)
def test_trend(values, rises, falls):
    trend = track(values.astype(float)).trend()
    assert (trend.rises(), trend.falls()) == (rises, falls)


def test_an_exponential_decay_arrives_when_it_arrives():
    made = track(np.exp(-np.arange(1, 101) / 100))
    coming = arrival(made, math.exp(-2))
    assert coming is not None
    assert coming.step == pytest.approx(200, rel=0.01) and coming.latest == pytest.approx(200, rel=0.01)


@pytest.mark.parametrize("values", [np.ones(40), np.linspace(1, 2, 40)])
def test_entropy_that_does_not_fall_never_arrives(values):
    assert arrival(track(values), 0.05) is None
