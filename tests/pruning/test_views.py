"""TrialView.series: prepared once, in the sign where more is better. forecast_trial: which siblings it leans on."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from grpo_ops.curve import Evaluation
from grpo_ops.law import Pool
from grpo_ops.law.series import Series
from grpo_ops.pruning import PruneRule, TrialView, decide, forecast_trial

REWARD, LESS = PruneRule(), PruneRule(direction="minimize")
HELD_OUT = PruneRule(metric="eval_reward")
SCORES = tuple(Evaluation(step, (step / 100, 0.0), ("p", "q"), "d") for step in (0, 50, 100))


@pytest.fixture
def trial(curve) -> TrialView:
    return TrialView("trial", curve(), SCORES, "finished", {"learning_rate": 1e-5})


def test_the_series_is_prepared_once_for_each_metric_and_sign(trial):
    assert trial.series(REWARD) is trial.series(PruneRule(caution=1.0))
    assert len({id(trial.series(rule)) for rule in (REWARD, LESS, HELD_OUT)}) == 3


def test_the_series_is_the_judged_curve_in_the_sign_where_more_is_better(trial):
    assert trial.series(REWARD).y.tolist() == list(trial.curve.rewards)
    assert trial.series(LESS).y.tolist() == [-reward for reward in trial.curve.rewards]
    assert trial.series(HELD_OUT).y.tolist() == [0.0, 0.25, 0.5]
    assert trial.series(HELD_OUT).steps == (0, 50, 100)
    assert {trial.series(rule).horizon for rule in (REWARD, LESS, HELD_OUT)} == {100}


def test_what_was_prepared_changes_neither_equality_nor_copies(trial):
    fresh = replace(trial)
    trial.series(REWARD)
    assert trial == fresh
    assert hash(trial) == hash(fresh)
    again = pickle.loads(pickle.dumps(trial))
    assert again == trial
    assert again.series(REWARD).final == trial.series(REWARD).final
    longer = replace(trial, curve=trial.curve.head(50))
    assert len(longer.series(REWARD)) == 50


def test_a_pool_of_series_is_the_pool_of_their_curves(curve):
    curves = [curve(end=0.5 + 0.1 * seed, seed=seed) for seed in range(4)] + [curve(upto=40), curve().head(0)]
    params = [{"learning_rate": 10.0**-rate, "lora": rate > 2} for rate in range(6)]
    one, other = Pool.of(curves, params), Pool.of_series([Series.of(one) for one in curves], params)
    assert (len(one), one.left_out, one.horizon) == (len(other), other.left_out, other.horizon) == (4, 2, 100.0)
    for mine, theirs in zip(one.tracks, other.tracks, strict=True):
        np.testing.assert_array_equal(mine.table, theirs.table)
        assert (mine.final, mine.final_variance) == (theirs.final, theirs.final_variance)
    np.testing.assert_array_equal(one.hyperparameters.coordinates, other.hyperparameters.coordinates)


def test_a_run_of_the_pool_is_prepared_once_as_long_as_its_series_lives(trial):
    first, again = (Pool.of_series([trial.series(REWARD)], [None]) for _ in range(2))
    assert first.tracks[0] is again.tracks[0]


def test_of_many_siblings_the_last_fifty_finished_ones_count(curve):
    def study(ends):
        return [TrialView(str(n), curve(end=end, seed=n), state="finished") for n, end in enumerate(ends)]

    own = TrialView("own", curve(end=0.6, upto=30, seed=99))
    lasting = study(np.linspace(0.4, 0.9, 50))
    found = forecast_trial(own, lasting, REWARD)
    stopped = TrialView("stopped", curve(end=0.3, upto=40), state="pruned")
    for first in (study([0.95] * 20), study([0.3] * 20), [stopped] * 60):
        assert forecast_trial(own, [*first, *lasting], REWARD) == found
    assert forecast_trial(own, lasting[1:], REWARD) != found


def test_a_forecast_is_mirrored_where_less_is_better(curve):
    def study(sign):
        ends = (0.5, 0.6, 0.7, 0.8)
        others = [TrialView(str(end), curve(end=end, seed=1, sign=sign), state="finished") for end in ends]
        return TrialView("own", curve(end=0.6, upto=30, seed=9, sign=sign)), others

    up, down = forecast_trial(*study(1.0), REWARD), forecast_trial(*study(-1.0), LESS)
    assert (down.mean, down.low, down.high) == (-up.mean, -up.high, -up.low)
    assert decide(*study(1.0), REWARD).reason is decide(*study(-1.0), LESS).reason
