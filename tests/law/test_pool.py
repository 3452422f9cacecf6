"""Pool, standings, hyperparameters: what a forecast that leans on siblings is prepared from."""

import math
from fractions import Fraction

import numpy as np
import pytest

from grpo_ops.curve import RewardCurve
from grpo_ops.errors import LawError
from grpo_ops.law import Pool
from grpo_ops.law.closed_form import final_level
from grpo_ops.law.hyperparameters import Hyperparameters
from grpo_ops.law.series import Series
from grpo_ops.law.standing import Track, standing


def squared(one, other) -> float:
    return float(np.sum((one - other) ** 2))


@pytest.mark.parametrize("n", [30, 200])
def test_a_track_holds_the_standing_after_each_point(rising, n):
    whole = Series.of(rising(n=n))
    track = Track.of(whole)
    for m in (3, 5, 12, n):
        early = Series(whole.y[:m], whole.steps[:m], n, 1, n)
        inflation = whole.inflation / early.inflation  # of the variance: a track uses the whole run's correlation
        expected = standing(early) * np.array([1, 1, 1, 1, 1, inflation])
        assert track.at(m / n) == pytest.approx(expected, rel=1e-6, abs=1e-12)
    assert track.table[3, -1] == pytest.approx(final_level(whole)[0])


def test_a_track_of_a_long_run_averages_neighbours(rising):
    track = Track.of(Series.of(rising(n=5000)))
    assert track.table.shape[1] <= 512
    assert track.final == pytest.approx(np.mean(rising(n=5000).rewards[-500:]), abs=0.002)
    assert track.x[-1] == pytest.approx(1.0, abs=0.01)


def test_before_its_first_point_a_run_stands_where_it_begins(rising):
    track = Track.of(Series.of(rising()))
    assert track.at(0.0) == pytest.approx(track.table[:, 0])


def test_runs_that_have_not_finished_are_left_out_and_counted(rising):
    pool = Pool.of([rising(seed=1), rising(seed=2, upto=120), RewardCurve(), rising(seed=3)])
    assert (len(pool), pool.left_out, pool.horizon) == (2, 2, 200)


def test_some_runs_of_a_pool_are_a_pool(rising):
    params = [{"learning_rate": 10.0**-k} for k in range(3, 7)]
    pool = Pool.of([rising(seed=seed) for seed in range(4)], params)
    some = pool.only([2, 0])
    assert [track.final for track in some.tracks] == [pool.tracks[2].final, pool.tracks[0].final]
    assert some.hyperparameters.coordinates[1] == pytest.approx(pool.hyperparameters.coordinates[0])


def test_a_pool_needs_hyperparameters_for_each_curve_or_for_none(rising):
    with pytest.raises(LawError, match="for each of its 2 curves but got 1"):
        Pool.of([rising(), rising(seed=1)], [{}])


STUDY = [
    {"learning_rate": 1e-4, "num_generations": 4, "loss_type": "dapo", "beta": 0.0},
    {"learning_rate": 1e-2, "num_generations": 16, "loss_type": "grpo", "beta": 0.04},
    {"learning_rate": 1e-3, "num_generations": 8, "loss_type": "dapo", "beta": 0.04},
]


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ({}, {}, 0.0),
        ({"learning_rate": 1e-4}, {"learning_rate": 1e-2}, 4.0),  # two decades
        ({"grpo.learning_rate": 1e-4}, {"learning_rate": 1e-4}, 0.0),
        ({"lr": 1e-4}, {"learning_rate": 1e-4}, 0.0),
        ({"num_generations": 4}, {"num_generations": 16}, 1.0),
        ({"num_generations": 4}, {"num_generations": 8}, 0.25),  # half of the range of its logarithm
        ({"beta": 0.0}, {"beta": 0.02}, 0.25),
        ({"loss_type": "dapo"}, {"loss_type": "grpo"}, 1.0),
        ({"loss_type": "dapo"}, {"loss_type": "bnpo"}, 1.0),  # a choice that the study has not seen
        ({"beta": 0.0}, {}, 1.25),  # known against not known, from the end of the range
    ],
)
def test_distances_of_hyperparameters(one, other, distance):
    study = Hyperparameters.of(STUDY)
    base = {"learning_rate": 1e-3, "num_generations": 8, "loss_type": "dapo", "beta": 0.02}
    names = {name.rsplit(".", 1)[-1].replace("lr", "learning_rate") for name in (*one, *other)}
    rest = {name: value for name, value in base.items() if name not in names}
    places = [study.with_own({**rest, **own})[0] for own in (one, other)]
    assert squared(*places) == pytest.approx(distance)


@pytest.mark.parametrize(
    "value",
    [[1, 2], {"x": 1}, None, math.nan, math.inf, 10**400, 1e308, -1e308, 5e-324, True, 1 + 2j, np.array([1, 2])],
)
@pytest.mark.parametrize("name", ["beta", "learning_rate", 1, "", "."])
def test_odd_hyperparameters_leave_all_distances_finite(name, value):
    study = Hyperparameters.of([*STUDY, {name: value}, {name: value, "lora": True}, {name: 1.0}])
    for own in ({name: value, "lora": True}, {name: 2.0}):
        assert np.all(np.isfinite(np.square(study.with_own(own)[:, None] - study.with_own(own))))


@pytest.mark.parametrize("number", [np.float32(0.5), np.int64(8), Fraction(1, 2)])
def test_a_number_of_any_type_is_a_number(number):
    study = Hyperparameters.of([{"beta": number}, {"beta": 0.0}])
    assert study.coordinates == pytest.approx(Hyperparameters.of([{"beta": float(number)}, {"beta": 0.0}]).coordinates)


def test_a_lora_rate_counts_a_fifth():
    study = Hyperparameters.of([{"learning_rate": 1e-3, "lora": True}, {"learning_rate": 2e-4, "lora": False}])
    assert study.coordinates[0][:2] == pytest.approx(study.coordinates[1][:2])


def test_without_hyperparameters_all_runs_are_alike():
    assert np.ptp(Hyperparameters.of(STUDY).with_own(None), axis=0).max() == 0
    assert Hyperparameters.of([None, {}]).with_own({"learning_rate": 1.0}).shape[0] == 3
    assert Hyperparameters.of([]).with_own({"learning_rate": 1.0}).shape[0] == 1
