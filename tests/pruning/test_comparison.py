"""Comparison: which evidence gives which verdict, and what is said of it."""

from dataclasses import replace

import numpy as np
import pytest

from grpo_ops.curve import RewardCurve
from grpo_ops.pruning import PruneReason, PruneRule, TrialView, decide
from grpo_ops.pruning.comparison import Comparison
from grpo_ops.pruning.rivals import Incumbent, Rival

R = PruneReason
STEPS = tuple(range(1, 101))
X = np.arange(1, 101) / 100
REWARD = PruneRule(collapse=False)


def view(levels, key="own", state="running", upto=100, seed=0, noise=0.01) -> TrialView:
    """A trial with these levels of training reward, or one level, and noise."""
    rewards = np.broadcast_to(levels, 100) + np.random.default_rng(seed).normal(0, noise, 100)
    return TrialView(key, RewardCurve(STEPS, tuple(map(float, rewards)), 100).head(upto), (), state)


def made(**known) -> Comparison:
    rival = view(0.8, "best", "finished")
    incumbent = Incumbent(0.8, Rival(rival, rival.series(REWARD)))
    numbers = {"recent": 0.5, "reference": 0.5, "slack": 0.02, "law": 0.6, "expected": 0.6, "error": 0.1, "noise": 0.05}
    rest = {"behind_lately": True, "paired": None, "settled": False, "best_finished": 0.8}
    return Comparison(incumbent, REWARD, **(numbers | rest | known))


@pytest.mark.parametrize(
    ("known", "verdict"),
    [
        ({}, R.LEADING),
        ({"recent": 0.49}, R.CLOSE_CALL),  # behind by less than noise explains
        ({"recent": 0.47}, R.HOPELESS),
        ({"recent": 0.47, "behind_lately": False}, R.CLOSE_CALL),  # not in the later half of the recent points
        ({"recent": 0.47, "expected": 0.8}, R.SLOW_START),
        ({"recent": 0.47, "expected": 0.8, "law": 0.8}, R.WITHIN_REACH),
        ({"recent": 0.47, "paired": 0.0}, R.LEADING),  # paired outcomes take the place of levels
        ({"recent": 0.47, "paired": -2.0}, R.CLOSE_CALL),
        ({"recent": 0.47, "paired": -2.1}, R.HOPELESS),
        ({"recent": 0.55, "paired": -2.1}, R.HOPELESS),
        ({"recent": 0.47, "expected": 0.77, "law": 0.77}, R.WITHIN_REACH),
        ({"recent": 0.47, "expected": 0.77, "law": 0.77, "paired": -2.1}, R.HOPELESS),  # less doubt where paired
        ({"recent": 0.55, "settled": True}, R.HOPELESS),  # 0.6 + 0.6 * 0.1 is below 0.8, though it leads
        ({"recent": 0.55, "settled": True, "law": 0.75}, R.LEADING),
        ({"recent": 0.75, "settled": True}, R.LEADING),
        ({"recent": 0.55, "settled": True, "least_rise": 0.2}, R.LEADING),  # all finished trials still rose
        ({"recent": 0.55, "settled": True, "best_finished": 0.65}, R.LEADING),  # the incumbent still runs
        ({"recent": 0.55, "settled": True, "best_finished": -np.inf}, R.LEADING),
    ],
)
def test_verdicts(known, verdict):
    assert made(**known).verdict is verdict


@pytest.mark.parametrize("known", [{"recent": 0.47}, {"settled": True}])
def test_what_is_hopeless_falls_short_of_the_incumbent(known):
    found = made(**known)
    assert found.verdict is R.HOPELESS
    assert found.hopeful < found.incumbent.level
    assert found.margin < 0


def test_more_caution_holds_for_trials_that_have_stopped_rising_too():
    settled = made(settled=True, best_finished=0.7)
    assert settled.verdict is R.HOPELESS
    assert replace(settled, rule=replace(REWARD, caution=1.2)).verdict is R.LEADING
    assert replace(settled, rule=replace(REWARD, settled_caution=1.2)).verdict is R.LEADING


QUICK = 0.2 + 0.4 * (1 - np.exp(-X / 0.03))
STEADY = 0.2 + 0.6 * X


def reasons(own: TrialView, others, rule) -> dict[int, PruneReason]:
    decisions = (decide(replace(own, curve=own.curve.head(m)), others, rule) for m in range(3, 101))
    return {found.step: found.reason for found in decisions if found.reason is not R.NOT_A_CHECK}


def test_a_trial_that_leads_but_has_stopped_rising_is_hopeless_from_settled_from_on():
    """It saturates at 0.6, and leads until half of the run; the finished one ends at 0.8."""
    best = [view(STEADY, "best", "finished", seed=1)]
    found = reasons(view(QUICK), best, REWARD)
    assert {found[step] for step in (20, 25, 30, 35)} == {R.LEADING}
    assert found[40] is R.HOPELESS
    later = reasons(view(QUICK), best, replace(REWARD, settled_from=0.45))
    assert later[40] is R.LEADING
    assert later[45] is R.HOPELESS


def test_without_a_finished_trial_nothing_is_settled():
    ahead = view(STEADY, "ahead", seed=1)
    assert R.HOPELESS not in {reason for step, reason in reasons(view(QUICK), [ahead], REWARD).items() if step < 60}


LATE = np.where(X > 0.6, 0.8, 0.1)
FORMAT_FIRST = np.where(X > 0.6, 0.8, 0.3 - 0.2 * np.exp(-X / 0.03))


@pytest.mark.parametrize("levels", [LATE, FORMAT_FIRST])
@pytest.mark.parametrize("seed", range(4))
def test_the_twin_of_slow_starters_has_not_stopped_rising(levels, seed):
    """All trials rise at 60 %; before that none of them rises, and one that is level with them is spared."""
    others = [view(levels, str(other), "finished", seed=10 + other, noise=0.03) for other in range(3)]
    found = reasons(view(levels + 0.03, seed=seed, noise=0.03), others, REWARD)
    assert not any(reason.stops for reason in found.values())


def test_being_behind_must_hold_in_the_later_half_of_the_recent_points():
    """It was far behind over steps 31 to 35 and is ahead since: behind on average, but not lately."""
    best = view(0.5, "best", "finished", noise=0.002)
    levels = np.where(X <= 0.35, 0.3, 0.52)
    own = view(levels, upto=40, noise=0.002)
    found = decide(own, [best], REWARD)
    assert found.numbers["recent"] < found.numbers["reference"] - found.numbers["slack"]
    assert found.reason is R.CLOSE_CALL


def test_a_rivals_later_half_is_over_the_same_steps_at_any_spacing():
    """The rival reports ten times as often. Over its last two points alone it would be below this trial."""
    rewards = tuple(0.3 if step in (79, 80) else 0.5 for step in range(1, 201))
    often = TrialView("often", RewardCurve(tuple(range(1, 201)), rewards, 200), (), "finished")
    seldom = RewardCurve(tuple(range(10, 201, 10)), (0.4,) * 20, 200).head(8)
    assert decide(TrialView("own", seldom), [often], REWARD).reason is R.HOPELESS
