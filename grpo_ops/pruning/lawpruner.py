"""LawPruner: the rule in anybody's Optuna study, from the values that its trials report."""

import logging
import operator
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from optuna.exceptions import OptunaError
from optuna.pruners import BasePruner
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial

from grpo_ops.errors import LawError
from grpo_ops.pruning.decide import decide
from grpo_ops.pruning.reason import PruneReason
from grpo_ops.pruning.rule import PruneRule
from grpo_ops.pruning.summary import summary
from grpo_ops.pruning.types import DECISION_ATTRIBUTE, PruneDecision, TrialView
from grpo_ops.pruning.views import Others, Views

_LOG = logging.getLogger(__name__)
_FIRST_CHECK = 10  # the first check is at max_steps divided by this


class LawPruner(BasePruner):
    """Prunes a trial that is behind the best one, or has stopped rising, and will not catch up; doubt never prunes.

        study = optuna.create_study(direction="maximize", pruner=LawPruner(max_steps=200))

    max_steps: the step at which a trial that is not pruned ends. caution: 0.5 is bold, 0.8 to 1 careful.
    min_steps: first step at which a trial may be pruned, by default a tenth of max_steps; so early only where trials
    differ clearly. A trial is judged at the first report at or after each check, whatever the spacing of its reports.
    collapse: also prune a trial that has fallen far below its own best. plateau: also stop a trial that has given what
    it will give; off, because Optuna would count it as pruned.

    Report as often as you like, in any order, and ask `should_prune` as often as you like. Values that are not finite
    (NaN, inf, beyond 1e60) are skipped, as if their step had not been reported: a trial with no others is never pruned.
    A trial with a user attribute `run_key`, or one that another trial `continues` (a trial number), counts by its last
    attempt only. Each decision at a check is kept in the trial's user attribute "grpo_ops.decision"; the pruner itself
    remembers nothing but the curves of finished trials, which it can read again.

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
        min_gain: float = 0.02,
    ) -> None:
        self._max_steps = _whole("max_steps", max_steps)
        first = -(-self._max_steps // _FIRST_CHECK) if min_steps is None else _whole("min_steps", min_steps)
        if first > self._max_steps:
            raise LawError(
                f"min_steps {first} is beyond max_steps {self._max_steps}, so no trial would ever be pruned; "
                "lower it, or use optuna.pruners.NopPruner()"
            )
        rule = PruneRule(caution=caution, min_steps=first, collapse=collapse, plateau=plateau, min_gain=min_gain)
        self._first_check = first
        self._rules = {"maximize": rule, "minimize": replace(rule, direction="minimize")}
        self._views = Views(self._max_steps)

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        """Whether `trial` should stop now. Asked again without a new report it gives the same answer."""
        rule = self._rules[_direction(study)]
        last, view = _stored(trial), self._views.of(study, trial)
        if last is not None and view.curve.steps and last["step"] == view.curve.steps[-1]:
            return bool(last["stop"])
        since = last["step"] if last else _never_asked(view)
        decision = decide(view, Others(study, trial, self._views), rule, since=since)
        if decision.check is not None or decision.stop:
            _remember(study, trial, decision)
        return decision.stop

    def explain(self, study: Study) -> str:
        """How many trials of `study` were pruned and why, or why none was, in one or two sentences."""
        _direction(study)
        return summary(study.get_trials(deepcopy=False), self._first_check)


def _whole(name: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise LawError(f"{name} must be a whole number of steps but got {value!r}") from None
    if number < 1:
        raise LawError(f"{name} must be at least 1 but got {number}")
    return number


def _direction(study: Study) -> str:
    if len(study.directions) != 1:
        raise LawError(
            f"LawPruner needs a study with one objective but this one has {len(study.directions)}; "
            "optimise one of them, or use optuna.pruners.NopPruner()"
        )
    return "minimize" if study.direction == StudyDirection.MINIMIZE else "maximize"


def _stored(trial: FrozenTrial) -> Mapping[str, Any] | None:
    """The trial's last decision; a retry inherits its predecessor's attributes, which say nothing about it."""
    last = trial.user_attrs.get(DECISION_ATTRIBUTE)
    if not isinstance(last, dict) or not isinstance(last.get("step"), int) or "stop" not in last:
        return None
    is_own = last.get("trial") == trial.number and last.get("reason") != PruneReason.TOO_FEW_POINTS.value
    return last if is_own else None


def _never_asked(view: TrialView) -> int | None:
    """With nothing stored every check up to now is due: a step before the first."""
    return view.curve.steps[0] - 10 * view.curve.spacing if view.curve.steps else None


def _remember(study: Study, trial: FrozenTrial, decision: PruneDecision) -> None:
    """In the storage, and in `trial`: Optuna hands out its own copy, which it does not read again while it runs."""
    attribute = {"trial": trial.number} | decision.as_attribute()
    try:
        study._storage.set_trial_user_attr(trial._trial_id, DECISION_ATTRIBUTE, attribute)
    except (OptunaError, RuntimeError, KeyError) as error:  # the trial was ended elsewhere, or the database is locked
        _LOG.warning("the decision on trial %d could not be stored: %s", trial.number, error)
    else:
        trial.user_attrs[DECISION_ATTRIBUTE] = attribute
