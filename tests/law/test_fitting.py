import json
import math

import numpy as np
import pytest

from grpo_ops.curve import RewardCurve
from grpo_ops.law import FitStatus, exponential, fit
from grpo_ops.reading import read_curve


@pytest.mark.parametrize(("end", "tau"), [(0.8, 0.1), (0.8, 0.3), (0.5, 0.6), (0.05, 0.2)])
def test_planted_parameters_come_back(rising, end, tau):
    found = fit(rising(end=end, tau=tau, noise=0.005))
    assert found.status is FitStatus.OK
    assert [*found.params] == ["R0", "R_inf", "tau"]
    assert [*found.params.values()] == pytest.approx([0.2, end, tau], rel=0.15, abs=0.02)
    assert found.noise == pytest.approx(0.005, rel=0.2)


def test_the_intervals_hold_the_truth_about_as_often_as_they_say(rising):
    hits = []
    for seed in range(100):
        found = fit(rising(seed=seed))
        error = abs(found.params["R_inf"] - 0.8)
        hits.append(error < 1.96 * math.sqrt(found.covariance[1][1]))
    assert 0.88 <= np.mean(hits) <= 1.0


@pytest.mark.parametrize(
    ("rewards", "status"),
    [
        ((), FitStatus.TOO_FEW_POINTS),
        ((0.1, 0.2, 0.3, 0.4), FitStatus.TOO_FEW_POINTS),
        ((0.5,) * 30, FitStatus.CONSTANT),
        (tuple(float(index % 2) for index in range(60)), FitStatus.POOR),
    ],
)
def test_a_bad_fit_is_a_status(rewards, status):
    found = fit(RewardCurve(tuple(range(len(rewards))), rewards, 100))
    assert found.status is status
    assert json.dumps(found.as_dict(), allow_nan=False)


def test_progress_is_measured_against_the_planned_end(rising):
    half = fit(rising(noise=0.005, upto=100))
    assert half.horizon == 200
    assert half.params["tau"] == pytest.approx(0.3, rel=0.1)


def test_shifting_and_scaling_the_reward_shifts_and_scales_the_law(rising):
    curve = rising()
    moved = RewardCurve(curve.steps, tuple(3 * reward - 5 for reward in curve.rewards), 200)
    one, other = fit(curve), fit(moved)
    assert other.params["tau"] == pytest.approx(one.params["tau"], rel=1e-3)
    assert other.params["R_inf"] == pytest.approx(3 * one.params["R_inf"] - 5, rel=1e-3)
    assert other.r2 == pytest.approx(one.r2, abs=1e-6)


def test_the_docstring_example():
    assert exponential.predict(np.array([0.0, 0.3]), np.array([0.2, 0.8, 0.3])) == pytest.approx([0.2, 0.579], abs=1e-3)


def test_every_public_curve_gets_a_fit(public_curves):
    statuses = {fit(read_curve(path).curve).status for path in public_curves[::4]}
    assert FitStatus.OK in statuses and FitStatus.FAILED not in statuses
