"""The judge on recorded evaluations, prompt by prompt: what a bare LawPruner, which sees floats only, cannot do."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from optuna.pruners import BasePruner
from optuna.study import Study
from optuna.trial import FrozenTrial

from grpo_ops.curve import RewardCurve
from grpo_ops.pruning import DECISION_ATTRIBUTE, PruneRule, TrialView, decide
from grpo_ops.pruning.views import STATES
from grpo_ops.replay.trials import ReplayTrial


@dataclass(frozen=True)
class RecordedView(TrialView):
    """A trial up to its last report. recorded: its evaluation means as they were recorded, partial credit included."""

    recorded: RewardCurve = field(default_factory=RewardCurve)

    @cached_property
    def evaluation_curve(self) -> RewardCurve:
        return self.recorded


class RecordedPruner(BasePruner):
    """Calls decide() on the trials' full records: training curve, evaluations prompt by prompt, settings.

    trials: in the order in which the study starts them. rule: judges; its metric must be what the study reports.
    """

    def __init__(self, trials: Sequence[ReplayTrial], rule: PruneRule) -> None:
        self._trials = trials
        self._rule = rule
        self._planned = max(trial.judged.max_steps or trial.judged.steps[-1] for trial in trials)
        self._over: dict[int, TrialView] = {}

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        others = [self._view(other) for other in study.get_trials(deepcopy=False) if other.number != trial.number]
        decision = decide(self._view(trial), others, self._rule)
        if decision.stop:
            attribute = {"reason": decision.reason.value, "step": decision.step, "stop": True}
            study._storage.set_trial_user_attr(trial._trial_id, DECISION_ATTRIBUTE, attribute)
        return decision.stop

    def _view(self, trial: FrozenTrial) -> TrialView:
        if not trial.state.is_finished():
            return self._seen(trial)
        if trial.number not in self._over:
            self._over[trial.number] = self._seen(trial)
        return self._over[trial.number]

    def _seen(self, trial: FrozenTrial) -> TrialView:
        own = self._trials[trial.number]
        last = max(trial.intermediate_values, default=-math.inf)
        return RecordedView(
            f"trial {trial.number}",
            replace(own.curve, max_steps=self._planned).upto(int(last))
            if own.curve.steps and last >= 0
            else RewardCurve(),
            tuple(evaluation for evaluation in own.outcomes if evaluation.step <= last),
            STATES[trial.state],
            own.params,
            replace(own.judged, max_steps=self._planned).head(len(trial.intermediate_values)),
        )
