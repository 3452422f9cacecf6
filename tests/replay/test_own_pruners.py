"""The clairvoyant, the calibrated last value, and the judge on full records: (trials, setting) -> when each stops."""

import numpy as np
import pytest

from grpo_ops.curve import RewardCurve
from grpo_ops.pruning import LawPruner, PruneRule
from grpo_ops.replay.own_pruners import CalibratedLastValuePruner, ClairvoyantPruner
from grpo_ops.replay.paired import RecordedPruner
from grpo_ops.replay.studies import run_study
from grpo_ops.replay.trials import ReplayTrial

STEPS = tuple(range(1, 21))


def flat(level):
    curve = RewardCurve(STEPS, (level,) * 20, 20)
    return ReplayTrial(str(level), curve, curve)


def ended(trials, pruner, workers=1):
    """(steps used, whether it was kept) of each trial, in the order in which they ended."""
    found = run_study("study", trials, [one.reports for one in trials], pruner, workers)
    return [(one.steps, one.worth is not None) for one in found.ended]


@pytest.mark.parametrize(("first", "stopped"), [(0.2, 4), (0.1, 2), (0.5, 10)])
def test_the_clairvoyant_prunes_what_ends_below_the_best_finished(first, stopped):
    trials = [flat(0.5), flat(0.4), flat(0.5), flat(0.6), flat(0.5)]
    kept = (20, True)
    assert ended(trials, ClairvoyantPruner(trials, first)) == [kept, (stopped, False), kept, kept, (stopped, False)]


def test_the_clairvoyant_needs_a_finished_trial():
    trials = [flat(0.5), flat(0.6)]
    assert ended(trials, ClairvoyantPruner(trials, 0.2), workers=2) == [(20, True), (20, True)]


def test_the_calibrated_last_value_waits_for_three_finished_trials():
    trials = [flat(level) for level in (0.9, 0.1, 0.1, 0.1, 0.95)]
    kept = (20, True)
    assert ended(trials, CalibratedLastValuePruner(trials, 1.0)) == [kept, kept, kept, (4, False), kept]


def test_the_calibrated_last_value_expects_the_rise_that_the_others_had():
    """Others gained 0.5 at half of the run: a trial above them goes on until they have passed it, one below is not."""
    draws = np.random.default_rng(0).normal(0, 0.01, 3)
    late = [RewardCurve(STEPS, (0.2,) * 10 + (0.7 + float(x),) * 10, 20) for x in draws]
    trials = [*(ReplayTrial("late", one, one) for one in late), flat(0.5), flat(0.05)]
    assert ended(trials, CalibratedLastValuePruner(trials, 1.0)) == [(20, True)] * 3 + [(14, False), (4, False)]


@pytest.mark.parametrize("workers", [1, 4])
def test_the_judge_on_full_records_decides_as_law_pruner_does_on_the_same_values(by_reward, workers):
    trials = by_reward.trials
    judged = ended(trials, RecordedPruner(trials, PruneRule()), workers)
    assert judged == ended(trials, LawPruner(by_reward.last_step), workers)


class Watched(RecordedPruner):
    """Remembers the views that it makes."""

    def _view(self, trial):
        view = super()._view(trial)
        self.views = [*getattr(self, "views", []), view]
        return view


def test_the_judge_sees_each_trial_up_to_its_last_report(by_evaluation):
    trials, rule = by_evaluation.trials[6:8], PruneRule(metric="eval_reward")
    pruner = Watched(trials, rule)
    assert ended(trials, pruner) == [(40, True), (40, True)]
    early = pruner.views[2]
    assert ([one.step for one in early.evaluations], early.curve.steps[-1], early.state) == ([0, 4, 8], 8, "running")
    other, own = pruner.views[-2:]
    assert (other.key, other.state, own.key) == ("trial 0", "finished", "trial 1")
    assert own.judged(rule).rewards == trials[1].judged.rewards
    assert own.evaluations == trials[1].outcomes and own.params == trials[1].params
