"""Decisions on held-out evaluations, where two trials are compared prompt by prompt."""

import json
from dataclasses import replace

import numpy as np
import pytest

from grpo_ops.curve import Evaluation, RewardCurve
from grpo_ops.pruning import PruneReason, PruneRule, TrialView, decide

R = PruneReason
REWARD = PruneRule(collapse=False)
PAIRED = PruneRule(collapse=False, metric="eval_reward")


def evaluated(key, shares, prompts=64, digest="d", state="running", every=10, shift=0) -> TrialView:
    """A trial whose first share of the prompts passes at each evaluation, on `every` step from 0 on."""
    names = tuple(map(str, range(prompts)))
    passed = [tuple(float((place + shift) % prompts < share * prompts) for place in range(prompts)) for share in shares]
    rows = tuple(Evaluation(every * place, row, names, digest) for place, row in enumerate(passed))
    return TrialView(key, RewardCurve((1,), (0.5,), 200), rows, state)


RISING = [0.2 + 0.03 * place for place in range(21)]


@pytest.mark.parametrize(
    ("at_40", "z", "reason"),
    [
        (21, 0.0, {R.LEADING}),  # as many of the 64 as the incumbent
        (24, np.sqrt(3), {R.LEADING}),
        (19, -np.sqrt(2), {R.CLOSE_CALL}),  # two fewer: d is -1 twice
        (12, -3.0, {R.HOPELESS}),
    ],
)
def test_pairing_decides_between_leading_a_close_call_and_behind(at_40, z, reason):
    best = evaluated("best", RISING, state="finished")
    own = evaluated("own", [0.2, 0.2, 0.2, 0.2, at_40 / 64])
    found = decide(own, [best], PAIRED)
    assert (found.step, found.incumbent_key) == (40, "best")
    assert found.numbers["paired_z"] == pytest.approx(z)
    assert {found.reason} == reason


def test_pairing_has_the_users_sign_and_minimise_mirrors_it():
    best, own = evaluated("best", RISING, state="finished"), evaluated("own", [0.2] * 5)
    up = decide(own, [best], PAIRED)
    down = decide(_negative(own), [_negative(best)], replace(PAIRED, direction="minimize"))
    assert (down.reason, down.margin, down.incumbent) == (up.reason, up.margin, -up.incumbent)
    assert down.numbers["paired_z"] == up.numbers["paired_z"] < 0
    assert down.numbers["recent"] == -up.numbers["recent"]


def test_only_evaluations_on_the_same_prompts_are_paired():
    best = evaluated("best", RISING, state="finished", digest="other")
    assert "paired_z" not in decide(evaluated("own", [0.2] * 5), [best], PAIRED).numbers
    same = evaluated("best", RISING, state="finished")
    assert "paired_z" not in decide(evaluated("own", [0.2] * 5), [same], REWARD).numbers


WILD = [0.2, 0.5, 0.1, 0.5, *RISING[4:]]
EARLY = replace(PAIRED, checks=(0.19,))


@pytest.mark.parametrize(("digest", "paired", "reason"), [("other", False, R.TOO_ALIKE), ("d", True, R.HOPELESS)])
def test_an_early_check_needs_trials_that_differ_unless_they_are_paired(digest, paired, reason):
    """At step 30 noise could explain how far the trials are apart; prompt by prompt the finished one is ahead."""
    best = evaluated("best", WILD, state="finished", digest=digest)
    found = decide(evaluated("own", [0.0, 0.2, 0.0, 0.1]), [best], EARLY)
    assert (found.step, found.check, "paired_z" in found.numbers) == (30, 0.19, paired)
    assert found.reason is reason


def test_an_early_check_needs_a_finished_trial_even_where_paired():
    ahead = evaluated("ahead", WILD)
    found = decide(evaluated("own", [0.0, 0.2, 0.0, 0.1]), [ahead], EARLY)
    assert (found.reason, "paired_z" in found.numbers) == (R.TOO_ALIKE, True)


def test_the_numbers_of_a_paired_decision_are_small_json():
    best = evaluated("best-" + "x" * 200, RISING, state="finished")
    found = decide(evaluated("own", [0.2] * 5), [best], PAIRED)
    attribute = found.as_attribute()
    assert len(json.dumps(attribute, allow_nan=False)) < 1000
    assert attribute["numbers"]["paired_z"] == pytest.approx(found.numbers["paired_z"], rel=1e-4)


def test_equal_incumbents_are_told_apart_whatever_their_order():
    twins = [evaluated(key, RISING, state="finished", shift=shift) for key, shift in (("a", 0), ("b", 32))]
    own = evaluated("own", [0.3] * 5)
    assert decide(own, twins, PAIRED) == decide(own, twins[::-1], PAIRED)
    assert decide(own, twins, PAIRED).incumbent_key == "b"


def _negative(trial: TrialView) -> TrialView:
    rows = (replace(one, outcomes=tuple(-outcome for outcome in one.outcomes)) for one in trial.evaluations)
    curve = replace(trial.curve, rewards=tuple(-reward for reward in trial.curve.rewards))
    return replace(trial, curve=curve, evaluations=tuple(rows))
