"""One replicate through a real study: which steps are used, who is compared with whom, what is kept."""

import optuna
import pytest
from optuna.pruners import BasePruner, NopPruner
from optuna.trial import TrialState

from grpo_ops.curve import RewardCurve
from grpo_ops.pruning import DECISION_ATTRIBUTE
from grpo_ops.replay.studies import run_study
from grpo_ops.replay.trials import ReplayTrial


class PruneAt(BasePruner):
    """Prunes trial number -> step, and remembers what it was shown."""

    def __init__(self, steps, reason=None):
        self.steps, self.reason, self.asked, self.states = steps, reason, [], {}

    def prune(self, study, trial):
        self.asked.append((trial.number, trial.last_step))
        self.states[trial.number] = [other.state for other in study.get_trials(deepcopy=False)]
        stops = trial.last_step >= self.steps.get(trial.number, 10**9)
        if stops and self.reason:
            told = {"reason": self.reason, "step": trial.last_step, "stop": True}
            study._storage.set_trial_user_attr(trial._trial_id, DECISION_ATTRIBUTE, told)
        return stops


def trial(*rewards, spacing=1, first=1, by_evaluation=False):
    steps = tuple(range(first, first + spacing * len(rewards), spacing))
    return ReplayTrial("t", RewardCurve(steps, rewards), RewardCurve(steps, rewards), by_evaluation=by_evaluation)


def run(trials, pruner, workers=1):
    return run_study("study", trials, [one.reports for one in trials], pruner, workers)


def test_a_study_without_pruning_uses_all_steps_and_keeps_each_score():
    trials = [trial(0, 0.2, 0.4, 0.6), trial(1, 1, 1, 1)]
    found = run(trials, NopPruner())
    assert [(one.steps, one.worth) for one in found.ended] == [(4, pytest.approx(0.4)), (4, 1.0)]
    assert found.decisions == 8
    assert found.seconds > 0


@pytest.mark.parametrize(
    ("made", "steps", "whole"),
    [
        ({"first": 0}, 2, 4),  # logged from 0: two points stand for two steps
        ({"first": 5, "spacing": 5}, 10, 20),
        ({"first": 1, "spacing": 2}, 4, 8),
        ({"first": 0, "spacing": 10, "by_evaluation": True}, 10, 30),  # an evaluation before training costs nothing
    ],
)
def test_steps_used_until_the_second_report(made, steps, whole):
    one = trial(0.1, 0.2, 0.3, 0.4, **made)
    found = run([one], PruneAt({0: one.judged.steps[1]}))
    assert found.ended[0].steps == steps
    assert one.steps == whole
    assert found.ended[0].worth is None


def test_steps_after_the_last_evaluation_count_and_keep_the_worker_busy():
    """Evaluated at 0, 2 and 4 of 5 steps: pruning at step 2 saves three of them."""
    curve = RewardCurve(tuple(range(1, 6)), (0.5,) * 5)
    made = ReplayTrial("t", RewardCurve((0, 2, 4), (0.1, 0.2, 0.3)), curve, by_evaluation=True)
    assert (made.steps, [one.cost for one in made.reports]) == (5, [0, 2, 4])
    assert run([made], PruneAt({0: 2})).ended[0].steps == 2
    pruner = PruneAt({})
    found = run([made, trial(*[0.5] * 5), trial(0.5)], pruner, workers=2)
    assert [one.steps for one in found.ended] == [5, 5, 1]
    assert pruner.states[2][0] is TrialState.COMPLETE


def test_a_trial_starts_on_the_worker_that_is_free_first():
    trials = [trial(*[0.5] * 6), trial(*[0.5] * 2), trial(*[0.5] * 3)]
    pruner = PruneAt({})
    run(trials, pruner, workers=2)
    assert pruner.asked == [(0, 1), (1, 1), (0, 2), (1, 2), (0, 3), (2, 1), (0, 4), (2, 2), (0, 5), (2, 3), (0, 6)]
    assert pruner.states[0] == [TrialState.RUNNING, TrialState.COMPLETE, TrialState.COMPLETE]


def test_a_pruned_trial_is_false_where_it_beats_the_best_finished_one():
    trials = [trial(*[0.5] * 4), trial(*[0.6] * 4), trial(*[0.4] * 4)]
    found = run(trials, PruneAt({1: 2, 2: 2}))
    assert [one.is_false for one in found.ended] == [False, True, False]


def test_before_any_has_finished_the_running_ones_are_the_bar():
    trials = [trial(*[0.5] * 4), trial(*[0.6] * 4), trial(*[0.4] * 4)]
    found = run(trials, PruneAt({1: 2, 2: 2}), workers=3)
    assert {round(one.trial.score, 3): one.is_false for one in found.ended} == {0.5: False, 0.6: True, 0.4: False}


def test_a_plateau_is_complete_and_keeps_the_level_it_had():
    rising = trial(0.2, 0.4, 0.6, 0.8, 1.0, 1.0)
    found = run([rising], PruneAt({0: 3}, reason="plateau"))
    assert [(one.steps, one.worth) for one in found.ended] == [(3, pytest.approx(0.4))]


def test_trials_report_their_values_at_their_steps():
    seen = {}

    class Recorder(BasePruner):
        def prune(self, study, trial):
            seen.update(trial.intermediate_values)
            return False

    one = trial(0.1, 0.2, 0.3, 0.4, first=5, spacing=5)
    run_study("study", [one], [one.reports], Recorder(), 1)
    assert seen == {5: 0.1, 10: 0.2, 15: 0.3, 20: 0.4}
    seen.clear()
    run_study("study", [one], [one.blocks(0.5)], Recorder(), 1)
    assert seen == {10: pytest.approx(0.15), 20: pytest.approx(0.35)}


def test_optuna_is_as_loud_as_before(by_reward):
    from grpo_ops.replay import Protocol, candidates, replay

    before = optuna.logging.get_verbosity()
    list(replay([by_reward], candidates(["none"]), Protocol(replicates=1)))
    assert optuna.logging.get_verbosity() == before
