"""The winner, what its score is worth, and which trials cannot be told from it: on drawn outcomes of known truth."""

import math
import random

import pytest

from grpo_ops.curve import Evaluation, RewardCurve
from grpo_ops.sweep.winner import Entrant, find_winner

PROMPTS = tuple(str(number) for number in range(200))


def evaluation(step, outcomes, digest="held-out", prompts=PROMPTS):
    return Evaluation(step, tuple(outcomes), tuple(prompts[: len(outcomes)]), digest)


def drawn(seed, levels, difficulty=0.0, prompts=200):
    """One evaluation for each level; with `difficulty`, prompts differ, and in the same way for every trial."""
    draws, hard = random.Random(seed), random.Random(0)
    harder = [difficulty * (hard.random() - 0.5) for _ in range(prompts)]
    return tuple(
        evaluation(10 * index, [float(draws.random() < level + by) for by in harder])
        for index, level in enumerate(levels)
    )


def entrant(key, *runs):
    return Entrant(key, tuple(runs), ())


def test_a_clear_winner_stands_alone():
    field = [entrant(f"t{level}", drawn(seed, (0.2, level))) for seed, level in enumerate((0.3, 0.5, 0.8))]
    winner = find_winner(field, "eval_reward")
    assert (winner.key, winner.alike, winner.others, winner.prompts, winner.runs) == ("t0.8", (), 2, 200, 1)
    assert winner.low < 0.8 < winner.high
    assert winner.se == pytest.approx(math.sqrt(0.8 * 0.2 / 200), rel=0.15)
    assert "All 2 others are worse" in winner.doubt
    assert winner.sentence.startswith("Winner: t0.8, held-out evaluation 0.")


@pytest.mark.parametrize("checkpoints", [1, 8])
def test_the_best_is_among_those_alike(checkpoints):
    """Eight trials of one level: any of them may count as the best, and is there in 95 of 100 studies and more."""
    there = 0
    for study in range(60):
        field = [entrant(f"t{number}", drawn(100 * study + number, (0.6,) * checkpoints)) for number in range(8)]
        winner = find_winner(field, "eval_reward")
        there += "t3" in (winner.key, *winner.alike)
    assert there >= 56


def test_pairing_tells_apart_what_means_alone_do_not():
    """Prompts of 0 to 100 % difficulty, two policies that differ by 6 points on every one of them."""
    hard = random.Random(3)
    base = [0.9 * hard.random() for _ in range(60)]
    better = [value + 0.06 for value in base]
    same = [entrant("low", (evaluation(10, base),)), entrant("high", (evaluation(10, better),))]
    assert find_winner(same, "eval_reward").alike == ()
    other = [same[0], entrant("high", (evaluation(10, better, digest="other"),))]
    assert find_winner(other, "eval_reward").alike == ("low",)


def test_the_expected_score_is_without_the_optimism_of_the_choice():
    """Six trials of one level, ten checkpoints each: the best of sixty is far above it, the expected score is not."""
    scores, expected, held = [], [], 0
    for study in range(40):
        field = [entrant(f"t{number}", drawn(100 * study + number, (0.5,) * 10)) for number in range(6)]
        winner = find_winner(field, "eval_reward")
        scores.append(winner.score)
        expected.append(winner.expected)
        held += winner.low <= 0.5 <= winner.high
    assert sum(scores) / 40 > 0.56
    assert abs(sum(expected) / 40 - 0.5) < 0.015
    assert held >= 37


def test_seeds_count_as_one_point_and_widen_the_band_by_what_they_differ():
    steady = entrant("steady", drawn(1, (0.7,)), drawn(2, (0.7,)))
    wild = entrant("wild", drawn(3, (0.95,)), drawn(4, (0.55,)))
    alone = find_winner([entrant("steady", drawn(1, (0.7,)))], "eval_reward")
    winner = find_winner([steady, wild], "eval_reward")
    assert winner.runs == 2
    assert winner.alike == ("wild",) if winner.key == "steady" else ("steady",)
    assert winner.se > 1.5 * alone.se
    assert "2 seeds" in winner.sentence
    assert "one seed" in alone.sentence


def test_training_reward_has_the_error_of_its_noise():
    def curve(seed, level):
        noise = random.Random(seed)
        return RewardCurve(tuple(range(100)), tuple(level + noise.gauss(0, 0.05) for _ in range(100)), 100)

    field = [Entrant(f"t{n}", (), (curve(n, level),)) for n, level in enumerate((0.5, 0.52, 0.2))]
    winner = find_winner(field, "reward")
    assert winner.key in ("t0", "t1")
    assert winner.alike == (("t1",) if winner.key == "t0" else ("t0",))
    assert winner.se == pytest.approx(0.05 / math.sqrt(10), rel=0.3)
    assert "training reward" in winner.sentence


@pytest.mark.parametrize(
    ("field", "objective"),
    [([], "eval_reward"), ([entrant("empty")], "eval_reward"), ([entrant("none", ())], "eval_reward")],
)
def test_nothing_measured_is_no_winner(field, objective):
    assert find_winner(field, objective) is None


def test_doubt_is_alike():
    """One prompt has no error, and an unscored prompt counts as the mean: nothing is claimed of either."""
    one = [entrant(key, (evaluation(1, (value,), "reported"),)) for key, value in (("a", 0.1), ("b", 0.9))]
    winner = find_winner(one, "eval_reward")
    assert (winner.key, winner.alike) == ("b", ("a",))
    assert "its error is not known" in winner.sentence
    assert (winner.as_dict()["se"], winner.as_dict()["alike"]) == (None, ["a"])
    unscored = find_winner([entrant("c", (evaluation(1, (None, 1.0, 0.0, 1.0)),))], "eval_reward")
    assert (unscored.score, unscored.alike, unscored.doubt) == (pytest.approx(2 / 3), (), "")
