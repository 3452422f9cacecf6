"""paired_z: worked out by hand for a few tables, and None where two trials cannot be paired."""

import math

import pytest

from grpo_ops.curve import Evaluation, RewardCurve
from grpo_ops.pruning import TrialView
from grpo_ops.pruning.pairing import paired_z


def view(outcomes, *, step=10, prompts=None, digest="d") -> TrialView:
    """A trial with one evaluation; outcomes as a string, '-' where nothing was scored, or as a list."""
    row = tuple(None if one == "-" else float(one) for one in outcomes)
    names = tuple(prompts) if prompts else tuple(f"p{place}" for place in range(len(row)))
    return TrialView("t", RewardCurve((1,), (0.5,), 100), (Evaluation(step, row, names, digest),))


@pytest.mark.parametrize(
    ("own", "rival", "z"),
    [
        ("11110000", "00000000", 2.0),  # mean 1/2, mean square 1/2: (1/2) / sqrt((1/2) / 8)
        ("00000000", "11110000", -2.0),
        ("11111111", "00000000", math.sqrt(8)),
        ("11100000", "00000001", 1.0),  # three won, one lost: (3 - 1) / sqrt(3 + 1), as in McNemar's test
        ("11000000", "00000011", 0.0),  # as many won as lost
        ("10101010", "10101010", 0.0),  # no outcome differs
        ("1111----00000000", "0000111100000000", 2.0),  # a prompt that one of them did not score is left out
        ([0.5] * 4 + [0.0] * 4, [0.0] * 8, 2.0),  # partial credit: the scale cancels
    ],
)
def test_z_by_hand(own, rival, z):
    assert paired_z(view(own), view(rival), 10) == pytest.approx(z, abs=1e-12)
    assert paired_z(view(rival), view(own), 10) == pytest.approx(-z, abs=1e-12)


def test_prompts_are_paired_by_name_not_by_place():
    own = view("11110000", prompts="abcdefgh")
    assert paired_z(own, view("00001111", prompts="hgfedcba"), 10) == 0.0
    assert paired_z(own, view("000011111", prompts="hgfedcbaz"), 10) == 0.0  # and z is not shared
    assert paired_z(own, view("00001111", prompts="abcdefgh"), 10) == 0.0  # four won, four lost
    assert paired_z(own, view("00000000", prompts="hgfedcba"), 10) == pytest.approx(2.0)


@pytest.mark.parametrize(
    "rival",
    [
        view("00000000", digest="e"),
        view("00000000", step=11),
        view("00000000", prompts="abcdefgh"),
        view("0000000-"),
        view("--------"),
        TrialView("t", RewardCurve((1,), (0.5,), 100)),
    ],
    ids=["another digest", "another step", "other prompts", "seven are shared", "none was scored", "no evaluation"],
)
def test_what_cannot_be_paired_is_none(rival):
    own = view("11111111")
    assert paired_z(own, rival, 10) is None
    assert paired_z(rival, own, 10) is None


def test_values_that_optuna_had_reported_are_never_paired():
    """What stands for evaluations of a run whose folder is gone has one outcome, under a name of its own."""
    reported = view([0.7], prompts=["reported"], digest="reported")
    assert paired_z(reported, reported, 10) is None
    assert paired_z(view("11111111"), reported, 10) is None


def test_of_repeated_steps_the_evaluation_on_the_curve_counts():
    """The first one with a finite mean, as in the curve of evaluations."""
    lost, broken, won = (view(text).evaluations[0] for text in ("--------", "00000000", "11110000"))
    broken = Evaluation(10, (math.nan, *broken.outcomes[1:]), broken.prompt_ids, "d")
    own = TrialView("t", RewardCurve((1,), (0.5,), 100), (lost, broken, won, broken))
    assert own.evaluation_curve.rewards == (0.5,)
    assert paired_z(own, view("00000000"), 10) == pytest.approx(2.0)
    assert paired_z(view("00000000"), TrialView("t", own.curve, (lost, broken)), 10) is None
