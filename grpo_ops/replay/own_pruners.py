"""Optuna pruners to compare with: the clairvoyant, and a forecast that knows the siblings but no law."""

import bisect
from collections.abc import Sequence

import numpy as np
from optuna.pruners import BasePruner
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from grpo_ops.replay.trials import ReplayTrial

CHECKS = (0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_WIDER = 1.2
_FEWEST_FINISHED = 3


class ClairvoyantPruner(BasePruner):
    """Knows every score, and prunes what will end below the best finished trial: the limit of what can be saved.

    trials: in the order in which the study starts them. first: share of a run before which nothing is pruned.
    """

    def __init__(self, trials: Sequence[ReplayTrial], first: float) -> None:
        self._trials = trials
        self._first = first

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        own = self._trials[trial.number]
        used = own.reports[len(trial.intermediate_values) - 1].cost
        if used < self._first * own.steps:
            return False
        finished = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        return any(self._trials[other.number].score > own.score for other in finished)


class CalibratedLastValuePruner(BasePruner):
    """Prunes where the recent level, plus what finished trials still gained from here, does not reach the best score.

    The rise to come has the mean m and 1.2 standard deviations sd of the finished trials' own; a trial is pruned at a
    check if level + m + caution sd is below the incumbent. Needs three finished trials. Rewards: more is better.
    """

    def __init__(self, trials: Sequence[ReplayTrial], caution: float) -> None:
        self._trials = trials
        self._caution = caution

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        own, count = self._trials[trial.number].series, len(trial.intermediate_values)
        if not any(max(1, round(check * own.n)) == count for check in CHECKS):
            return False
        finished = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        if len(finished) < _FEWEST_FINISHED:
            return False
        others = [self._trials[other.number].series for other in finished]
        rises = [
            other.final - other.recent(max(1, bisect.bisect_right(other.steps, own.steps[count - 1])))
            for other in others
        ]
        hopeful = own.recent(count) + float(np.mean(rises)) + self._caution * _WIDER * float(np.std(rises, ddof=1))
        return hopeful < max(other.final for other in others)
