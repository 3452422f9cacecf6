import weakref

import numpy as np
import pytest

from grpo_ops.curve import RewardCurve
from grpo_ops.law.series import Series, smoothed, thinned, trailing_mean


@pytest.mark.parametrize(
    ("steps", "max_steps", "n", "window"),
    [
        ((1, 2, 3), 200, 200, 20),
        ((10, 20, 30), 200, 20, 3),
        ((0, 10, 20), 200, 21, 3),  # with a baseline at step 0
        ((7, 14, 21), 100, 14, 3),
        ((40, 41, 42), 200, 161, 16),  # progress counts from the first step that was logged
        ((1, 2, 3), None, 3, 3),
        ((1, 2, 3, 300), 200, 300, 30),
    ],
)
def test_planned_points_follow_from_the_spacing(steps, max_steps, n, window):
    series = Series.of(RewardCurve(steps, (0.0,) * len(steps), max_steps))
    assert (series.n, series.window) == (n, window)


def test_progress_counts_planned_points_not_rows():
    series = Series.of(RewardCurve((1, 2, 5, 6), (0.0,) * 4, 10))
    assert series.x == pytest.approx([0.1, 0.2, 0.5, 0.6])


def test_recent_is_the_last_fifth_and_at_least_five():
    series = Series.of(RewardCurve(tuple(range(50)), tuple(map(float, range(50))), 100))
    assert series.recent() == pytest.approx(np.mean(range(40, 50)))
    assert series.recent(10) == pytest.approx(np.mean(range(5, 10)))
    assert series.recent(2) == pytest.approx(0.5)


def test_the_sign_turns_every_level():
    curve = RewardCurve((1, 2, 3), (1.0, 2.0, 4.0), 3)
    assert Series.of(curve, sign=-1.0).final == -Series.of(curve).final
    assert Series.of(curve, sign=-1.0).noise == Series.of(curve).noise


def test_averages_against_plain_loops():
    y = np.arange(7.0) ** 2
    assert trailing_mean(y, 3) == pytest.approx([np.mean(y[max(0, i - 2) : i + 1]) for i in range(7)])
    assert smoothed(y, 3) == pytest.approx([np.mean(y[max(0, i - 1) : i + 2]) for i in range(7)])
    assert thinned(y, 3) == pytest.approx([np.mean(y[:4]), np.mean(y[4:])])
    assert thinned(y, 1) is y


def test_a_step_and_its_progress_are_each_others_inverse():
    series = Series.of(RewardCurve((500, 510, 520, 540), (0.1, 0.2, 0.3, 0.4), 1000))
    assert series.step_at(series.x) == pytest.approx(series.steps)


def test_the_cache_of_series_keeps_no_metrics():
    class Metrics(dict):
        """A dictionary that tells when it is gone."""

    curve = RewardCurve((1, 2, 3), (0.125, 0.25, 0.0625), metrics=Metrics(kl=(0.1, 0.2, 0.3)))
    metrics, series = weakref.ref(curve.metrics), Series.of(curve)
    del curve
    assert metrics() is None
    assert Series.of(RewardCurve(series.steps, (0.125, 0.25, 0.0625))) is series
