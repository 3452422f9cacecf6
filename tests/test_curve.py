import math

import pytest

from grpo_ops.curve import Observation, RewardCurve
from grpo_ops.errors import CurveError

CURVE = RewardCurve((2, 4, 6, 9), (0.1, 0.2, 0.3, 0.4), 20, {"kl": (1.0, math.nan, 3.0, 4.0)})


@pytest.mark.parametrize(("step", "count"), [(-1, 0), (1, 0), (2, 1), (3, 1), (6, 3), (8, 3), (9, 4), (100, 4)])
def test_upto_keeps_the_steps_until_then(step, count):
    head = CURVE.upto(step)
    assert (head.steps, head.rewards, head.max_steps) == (CURVE.steps[:count], CURVE.rewards[:count], 20)
    assert len(head.metrics["kl"]) == count


@pytest.mark.parametrize(
    ("steps", "spacing", "planned"),
    [((), 1, 0), ((5,), 1, 16), ((1, 2, 3), 1, 20), ((2, 4, 6, 9), 2, 10), ((10, 20, 50), 30, 3), ((10, 20), 10, 2)],
)
def test_spacing_is_the_median_distance(steps, spacing, planned):
    curve = RewardCurve(steps, (0.5,) * len(steps), 20)
    assert (curve.spacing, curve.planned_points) == (spacing, planned)


@pytest.mark.parametrize(
    ("steps", "rewards", "metrics", "message"),
    [
        ((1, 2), (0.1,), {}, "one reward a step but got 1 for 2"),
        ((1, 2), (0.1, 0.2), {"kl": (1.0,)}, "column 'kl' has 1 values for 2 steps"),
        ((1, 5, 3), (0.1, 0.2, 0.3), {}, "steps must increase strictly but 3 follows 5"),
        ((1, 1), (0.1, 0.2), {}, "steps must increase strictly but 1 follows 1"),
        ((1, 2), (0.1, math.nan), {}, "rewards must be finite but step 2 has nan"),
        ((1, 2), (-math.inf, 0.2), {}, "rewards must be finite but step 1 has -inf"),
    ],
)
def test_columns_that_are_no_curve_are_refused_with_the_value(steps, rewards, metrics, message):
    with pytest.raises(CurveError, match=message):
        RewardCurve(steps, rewards, None, metrics)


def test_a_row_is_an_observation_and_back_again():
    assert [*CURVE][1] == Observation(4, 0.2) and CURVE[1].metrics == {}
    assert CURVE[2].metrics == {"kl": 3.0}
    assert RewardCurve.of(CURVE, 20) == CURVE and hash(RewardCurve.of(CURVE, 20)) == hash(CURVE)
