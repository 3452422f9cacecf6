"""replay() on a made sweep: what must hold for every rule, and for some that can be worked out by hand."""

from dataclasses import replace

import pytest

from grpo_ops.errors import CurveError
from grpo_ops.replay import Protocol, Source, Sweep, candidates, mean_sweep_rows, replay
from grpo_ops.replay.protocol import orders, subset_size

RULES = ["none", "median", "percentile", "sha", "hyperband", "patient", "wilcoxon"]
RULES += ["calibrated_last_value", "law", "clairvoyant"]
SHORT = Protocol(subsets=True, replicates=3)


def rows(sweep, rules=None, protocol=SHORT, **options):
    return list(replay([sweep], candidates(rules), protocol, **options))


def bare(found):
    """Rows without what a clock says."""
    return [replace(row, ms_per_decision=0.0) for row in found]


@pytest.fixture(scope="module")
def everything(by_evaluation):
    return rows(by_evaluation, workers=[1, 4])


def test_every_rule_has_a_row_for_each_setting_and_number_of_workers(everything):
    expected = [(count, one.rule, one.setting) for count in (1, 4) for one in candidates()]
    assert [(row.workers, row.rule, row.setting) for row in everything] == expected
    assert list(dict.fromkeys(row.rule for row in everything)) == RULES
    assert ("law", "default") in {(row.rule, row.setting) for row in everything}


def test_every_row_is_within_its_bounds(everything):
    for row in everything:
        assert 0 <= row.saved < 1
        assert row.regret >= 0
        assert 0 <= row.keeps_best <= row.near <= 1
        assert 0 <= row.false_prunes <= 1
        assert row.ms_per_decision > 0
        assert row.replicates == 3


def test_no_pruner_saves_and_loses_nothing(everything):
    (row, other) = (row for row in everything if row.rule == "none")
    assert (row.saved, row.regret, row.keeps_best, row.false_prunes) == (0, 0, 1, 0)
    assert bare([other]) == bare([replace(row, workers=4)])


def test_the_clairvoyant_loses_nothing_and_saves_more_the_earlier_it_may(everything):
    late, early = (row for row in everything if row.rule == "clairvoyant" and row.workers == 1)
    assert (late.regret, early.regret, late.false_prunes) == (0, 0, 0)
    assert early.saved > late.saved > 0.2


def test_evaluations_are_counted_against_training(everything):
    """11 evaluations of 64 prompts for 40 steps of 16 completions, where trials run in full."""
    assert everything[0].evaluations == pytest.approx(11 * 64 / (40 * 16))


def test_completions_that_nobody_knows_are_not_made_up(source):
    sweep = Sweep.of(replace(source, params=tuple({} for _ in source.curves)))
    assert rows(sweep, ["none"])[0].evaluations is None


def test_the_same_seed_gives_the_same_rows_and_another_one_others(by_reward):
    rules = ["hyperband", "median", "law"]
    first = bare(rows(by_reward, rules))
    assert bare(rows(by_reward, rules)) == first
    assert bare(rows(by_reward, rules, replace(SHORT, seed=1))) != first


def test_processes_that_share_the_work_change_nothing(by_reward):
    rules = ["none", "sha"]
    assert bare(rows(by_reward, rules, jobs=2)) == bare(rows(by_reward, rules))


def test_rows_of_a_rule_do_not_depend_on_the_others(by_reward):
    (alone,) = (row for row in rows(by_reward, ["law"]) if row.setting == "default")
    (among,) = (row for row in rows(by_reward, ["sha", "law"]) if (row.rule, row.setting) == ("law", "default"))
    assert bare([alone]) == bare([among])


def test_the_mean_weighs_sweeps_equally_and_combines_their_errors(by_reward):
    one = rows(by_reward, ["none"])[0]
    low, high = replace(one, saved=0.2, saved_se=0.03), replace(one, sweep="other", saved=0.6, saved_se=0.04)
    (mean,) = mean_sweep_rows([low, high])
    assert (mean.sweep, mean.replicates) == ("mean", 6)
    assert mean.saved == pytest.approx(0.4)
    assert mean.saved_se == pytest.approx(0.025)


def test_outcomes_are_needed_for_pairing(by_reward, by_evaluation):
    assert "paired" not in {row.setting for row in rows(by_reward, ["law"], Protocol(replicates=1))}
    assert "paired" in {row.setting for row in rows(by_evaluation, ["law"], Protocol(replicates=1))}


@pytest.mark.parametrize(("trials", "size"), [(31, 12), (16, 12), (15, 13), (10, 8), (9, 8), (6, 5), (3, 2)])
def test_sizes_of_subsets(trials, size):
    assert subset_size(trials) == size
    drawn = orders("sweep", trials, 5, True, 0)
    assert [len(set(order)) for order in drawn] == [size] * 5
    assert sorted(orders("sweep", trials, 1, False, 0)[0]) == list(range(trials))


def test_orders_depend_on_seed_and_sweep():
    assert orders("a", 20, 3, True, 0) == orders("a", 20, 3, True, 0)
    assert orders("a", 20, 3, True, 0) != orders("b", 20, 3, True, 0)
    assert orders("a", 20, 3, True, 0) != orders("a", 20, 3, True, 1)


def test_scores_are_means_of_the_last_tenth(by_reward, by_evaluation, source):
    rewards = source.curves[2].rewards
    assert by_reward.trials[2].score == pytest.approx(sum(rewards[-4:]) / 4)
    means = source.evaluations[2].rewards
    assert by_evaluation.trials[2].score == pytest.approx(sum(means[-3:]) / 3)
    assert by_evaluation.trials[2].steps == by_reward.trials[2].steps == 40


def test_trials_that_were_stopped_are_said(source, by_reward):
    assert by_reward.notes == ()
    short = Sweep.of(replace(source, curves=(source.curves[0].head(20), *source.curves[1:])), "reward")
    assert short.notes == ("1 of 8 trials were stopped before their planned end and count as they were then",)
    assert short.trials[0].steps == 20


def test_what_cannot_be_replayed_is_refused_in_one_sentence(source):
    single = Source("one", source.curves[:1], source.params[:1], False)
    with pytest.raises(CurveError, match="one cannot be replayed: give a sweep file with at least 3 trials"):
        Sweep.of(single)
    without = replace(source, evaluations=(None, *source.evaluations[1:]))
    with pytest.raises(CurveError, match="not every trial of made has evaluations: give --metric reward"):
        Sweep.of(without, "eval_reward")
    assert not Sweep.of(without, "auto").by_evaluation
    with pytest.raises(CurveError, match="there is no rule 'asha': give all, or some of none, median"):
        candidates(["asha"])
