"""Hindsight and siblings: what would have been said, from whom, and against which truth."""

import numpy as np
import pytest

from grpo_ops.curve import RewardCurve
from grpo_ops.errors import CurveError
from grpo_ops.law import forecast
from grpo_ops.report import Hindsight, Siblings

N = 50


def curve(seed, top=0.5, upto=N) -> RewardCurve:
    x = np.arange(1, N + 1) / N
    rewards = 0.2 + top * (1 - np.exp(-x / 0.3)) + np.random.default_rng(seed).normal(0, 0.02, N)
    return RewardCurve(tuple(range(1, N + 1)), tuple(map(float, rewards)), N).head(upto)


def test_what_is_said_is_the_forecast_of_that_moment():
    run = curve(0)
    look = Hindsight.of(run, name="a")
    assert look.truth == pytest.approx(np.mean(run.rewards[-5:]))
    for said, count in zip(look.said, (5, 10, 15, 25, 35), strict=True):
        ahead = forecast(run.head(count), N)
        assert (said.step, said.mean, said.phase) == (count, ahead.mean, ahead.phase)
        assert said.inside == (ahead.low <= look.truth <= ahead.high)


@pytest.mark.parametrize(("count", "sentence"), [(3, "a has 3 points"), (40, r"a has not finished \(step 40 of 50\)")])
def test_a_run_without_an_end_is_refused(count, sentence):
    with pytest.raises(CurveError, match=sentence):
        Hindsight.of(curve(0, upto=count), name="a")


def test_a_constant_run_has_no_bands():
    look = Hindsight.of(RewardCurve(tuple(range(1, N + 1)), (0.5,) * N, N))
    assert {said.inside for said in look.said} == {None}
    assert look.as_dict()["said"][0]["low"] is None


def test_siblings_leave_out_the_unfinished_and_the_run_itself():
    runs = [curve(number, 0.1 * number) for number in range(5)]
    params = [{"learning_rate": 10.0**-number} for number in range(5)]
    all_of_them = Siblings.of([*runs, curve(9, upto=20)], [*params, {}])
    assert (len(all_of_them), all_of_them.left_out) == (5, 1)
    others = all_of_them.without(runs[2])
    assert others.curves == (*runs[:2], *runs[3:])
    assert all_of_them.without(curve(9)) is all_of_them
    assert all_of_them.params_of(runs[3]) == params[3]
    assert all_of_them.params_of(curve(9)) is None


def test_preparing_once_changes_no_forecast():
    runs = [curve(number, 0.1 * number) for number in range(5)]
    kept = Siblings.of(runs).without(runs[0])
    early = curve(7).head(15)
    one, other = forecast(early, N, kept.pool), forecast(early, N, runs[1:])
    assert (one.mean, one.low, one.high) == pytest.approx((other.mean, other.low, other.high))
