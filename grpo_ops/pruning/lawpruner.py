"""LawPruner: the rule in anybody's Optuna study, from the values that its trials report."""

import logging
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from optuna.exceptions import OptunaError
from optuna.pruners import BasePruner
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial
from optuna.trial import TrialState as OptunaState

from grpo_ops.curve import RewardCurve
from grpo_ops.errors import LawError
from grpo_ops.pruning.decide import decide
from grpo_ops.pruning.reason import PruneReason
from grpo_ops.pruning.rule import PruneRule
from grpo_ops.pruning.types import DECISION_ATTRIBUTE, PruneDecision, TrialState, TrialView

_LOG = logging.getLogger(__name__)
_STATES: Mapping[OptunaState, TrialState] = {
    OptunaState.RUNNING: "running",
    OptunaState.COMPLETE: "finished",
    OptunaState.PRUNED: "pruned",
    OptunaState.FAIL: "failed",
}


class LawPruner(BasePruner):
    """Prunes a trial that is behind the incumbent and whose forecast does not catch up; doubt never prunes.

        study = optuna.create_study(direction="maximize", pruner=LawPruner(max_steps=200))

    max_steps: the step at which a trial that is not pruned ends. caution: 0.5 is bold, 0.8 to 1 careful.
    min_steps: first step at which a trial may be pruned; by default a tenth of max_steps, once trials differ clearly.
    collapse: also prune a trial that has fallen far below its own best. plateau: also stop a trial that has given what
    it will give; off, because Optuna would count it as pruned.

    Report at any spacing of steps and ask `should_prune` as often as you like. Values that are not finite are skipped,
    as if their step had not been reported. A trial with a user attribute `run_key`, or one that another trial
    `continues` (a trial number), counts by its last attempt only. Each decision at a check is kept in the trial's user
    attribute "grpo_ops.decision"; the pruner itself remembers nothing but the curves of finished trials.

    Raises LawError for settings outside their domain and for a study with several objectives.
    """

    def __init__(
        self,
        max_steps: int,
        *,
        caution: float = 0.6,
        min_steps: int | None = None,
        collapse: bool = True,
        plateau: bool = False,
        min_gain: float = 0.03,
    ) -> None:
        if max_steps < 1:
            raise LawError(f"max_steps must be at least 1 but got {max_steps}")
        self._max_steps = max_steps
        self._rule = PruneRule(
            caution=caution, min_steps=min_steps, collapse=collapse, plateau=plateau, min_gain=min_gain
        )
        self._finished: dict[int, TrialView] = {}

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        """Whether `trial` should stop now. Asked again without a new report it gives the same answer."""
        rule = replace(self._rule, direction=_direction(study))
        last, view = _stored(trial), self._view(trial)
        if last is not None and view.curve.steps and last["step"] == view.curve.steps[-1]:
            return bool(last["stop"])
        others = [self._view(other) for other in rivals_of(trial, study.get_trials(deepcopy=False))]
        decision = decide(view, others, rule, since=last["step"] if last else _never_asked(view))
        if decision.check is not None or decision.stop:
            _remember(study, trial, decision)
        return decision.stop

    def _view(self, trial: FrozenTrial) -> TrialView:
        if not trial.state.is_finished():
            return _as_view(trial, self._max_steps)
        if trial._trial_id not in self._finished:
            self._finished[trial._trial_id] = _as_view(trial, self._max_steps)
        return self._finished[trial._trial_id]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_finished": {}}


def rivals_of(trial: FrozenTrial, trials: Iterable[FrozenTrial]) -> list[FrozenTrial]:
    """The other trials that have begun, each run by its last attempt, without earlier attempts of `trial`'s own run."""
    begun = [other for other in trials if other.state in _STATES]
    continued = {other.user_attrs.get("continues") for other in (*begun, trial)}
    last = {_run_of(other): other.number for other in sorted(begun, key=lambda other: other.number)}
    return [
        other
        for other in begun
        if other.number == last[_run_of(other)] and other.number not in continued and _run_of(other) != _run_of(trial)
    ]


def _run_of(trial: FrozenTrial) -> Any:
    return trial.user_attrs.get("run_key", trial.number)


def _as_view(trial: FrozenTrial, max_steps: int) -> TrialView:
    rows = sorted((step, value) for step, value in trial.intermediate_values.items() if math.isfinite(value))
    steps, rewards = tuple(step for step, _ in rows), tuple(float(value) for _, value in rows)
    curve = RewardCurve(steps, rewards, max_steps)
    return TrialView(f"trial {trial.number}", curve, state=_STATES[trial.state])


def _direction(study: Study) -> Any:
    if len(study.directions) != 1:
        raise LawError(
            f"LawPruner needs a study with one objective but this one has {len(study.directions)}; "
            "optimise one of them, or use optuna.pruners.NopPruner()"
        )
    return "minimize" if study.direction == StudyDirection.MINIMIZE else "maximize"


def _stored(trial: FrozenTrial) -> Mapping[str, Any] | None:
    last = trial.user_attrs.get(DECISION_ATTRIBUTE)
    if not isinstance(last, dict) or not isinstance(last.get("step"), int) or "stop" not in last:
        return None
    return None if last.get("reason") == PruneReason.TOO_FEW_POINTS.value else last


def _never_asked(view: TrialView) -> int | None:
    """With nothing stored every check up to now is due: a step before the first."""
    return view.curve.steps[0] - 10 * view.curve.spacing if view.curve.steps else None


def _remember(study: Study, trial: FrozenTrial, decision: PruneDecision) -> None:
    try:
        study._storage.set_trial_user_attr(trial._trial_id, DECISION_ATTRIBUTE, decision.as_attribute())
    except (OptunaError, RuntimeError, KeyError) as error:  # the trial was ended elsewhere, or the database is locked
        _LOG.warning("the decision on trial %d could not be stored: %s", trial.number, error)
