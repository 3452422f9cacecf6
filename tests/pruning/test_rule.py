import pytest

from grpo_ops.curve import RewardCurve
from grpo_ops.errors import LawError
from grpo_ops.law.series import Series
from grpo_ops.pruning import PruneReason, PruneRule


def checks(steps: list[int], max_steps: int, rule: PruneRule) -> list[int]:
    """The steps at which `rule` checks a trial that shows its points one by one."""
    curve = RewardCurve(tuple(steps), (0.0,) * len(steps), max_steps)
    seen = [(curve.steps[m - 1], rule.check_at(Series.of(curve.head(m)))) for m in range(1, len(steps) + 1)]
    return [step for step, check in seen if check is not None]


@pytest.mark.parametrize(
    ("steps", "max_steps", "settings", "expected"),
    [
        (range(1, 101), 100, {}, [10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80]),
        (range(10, 101, 10), 100, {}, [20, 30, 40, 50, 60, 70, 80]),  # one point has no spacing yet
        (range(7, 99, 7), 100, {}, [14, 21, 28, 35, 42, 49, 56, 70, 77]),
        (range(0, 201, 10), 200, {}, [10, 20, 30, 40, 50, 60, 70, 80, 90, 120, 140, 160]),  # with a baseline
        (range(1, 101), 100, {"min_steps": 33}, [33, 35, 40, 45, 50, 60, 70, 80]),
        (range(10, 101, 10), 100, {"min_steps": 35}, [40, 50, 60, 70, 80]),
        (range(1, 101), 100, {"checks": (0.5,)}, [50]),
        (range(1, 101), 100, {"min_steps": 101}, []),
    ],
)
def test_checks_fall_on_the_first_point_that_reaches_them(steps, max_steps, settings, expected):
    assert checks([*steps], max_steps, PruneRule(**settings)) == expected


def test_a_gap_delays_a_check_to_the_next_point():
    steps = [*range(1, 18), *range(27, 101)]
    assert checks(steps, 100, PruneRule(checks=(0.2, 0.5))) == [27, 50]


def test_since_reaches_back_over_points_that_nobody_asked_about():
    curve = RewardCurve(tuple(range(1, 24)), (0.0,) * 23, 100)
    rule = PruneRule(checks=(0.2,))
    assert rule.check_at(Series.of(curve)) is None
    assert rule.check_at(Series.of(curve), since=19) == 0.2
    assert rule.check_at(Series.of(curve), since=20) is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"caution": -0.1}, "caution cannot be negative but got -0.1"),
        ({"checks": (0.2, 1.0)}, "checks must lie between 0 and 1"),
        ({"min_steps": 0}, "min_steps must be at least 1 but got 0"),
        ({"direction": "up"}, "direction must be 'maximize' or 'minimize' but got 'up'"),
        ({"metric": "loss"}, "metric must be 'reward' or 'eval_reward' but got 'loss'"),
        ({"min_gain": float("nan")}, "min_gain cannot be negative but got nan"),
    ],
)
def test_settings_outside_their_domain_are_refused(settings, message):
    with pytest.raises(LawError, match=message):
        PruneRule(**settings)


def test_every_reason_has_words_and_three_stop():
    assert {reason for reason in PruneReason if reason.stops} == {
        PruneReason.HOPELESS,
        PruneReason.DIVERGED,
        PruneReason.PLATEAU,
    }
    assert all(reason.words for reason in PruneReason)
