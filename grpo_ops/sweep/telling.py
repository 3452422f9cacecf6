"""Telling Optuna how a run ended; nothing is lost where Optuna thinks that it has ended already."""

import logging
from collections.abc import Mapping
from typing import Any

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import TrialState

from grpo_ops.ending import Ending
from grpo_ops.pruning.types import DECISION_ATTRIBUTE, PruneDecision
from grpo_ops.sweep.attributes import CONTINUES, ENDING, FORECAST, MLFLOW_RUN, REASON, SCORES, STEPS
from grpo_ops.sweep.study import STATES
from grpo_ops.sweep.watch import Watch

_log = logging.getLogger(__name__)


def tell(
    study: optuna.Study,
    trial: optuna.Trial,
    ending: Ending,
    reason: str,
    value: float | None = None,
    extra: Mapping[str, Any] | None = None,
) -> None:
    """Store the ending with its reason, then end the trial with the status that follows from it.

    A trial that another process has failed meanwhile (its heartbeats were late) is never reopened: the result goes
    into a new trial with the same settings that `continues` it.
    """
    state = STATES[ending]
    if state is TrialState.COMPLETE and value is None:
        state, ending, reason = TrialState.FAIL, Ending.FAILED, f"{reason}; but it has no value to tell"
    attributes = {ENDING: ending.value, REASON: reason[:500], **(extra or {})}
    try:
        for name, content in attributes.items():
            trial.set_user_attr(name, content)
        study.tell(trial, value if state is TrialState.COMPLETE else None, state=state)
    except (UpdateFinishedTrialError, ValueError) as error:
        _log.warning("trial %d was ended by another process (%s); its result is kept in a new one", trial.number, error)
        _tell_anew(study, trial, state, value, attributes)


def report(trial: optuna.Trial, points: Mapping[int, float]) -> bool:
    """Report values by step; False where another process has ended the trial."""
    try:
        for step, value in points.items():
            trial.report(value, step)
    except UpdateFinishedTrialError as error:
        _log.warning("trial %d was ended by another process (%s); its run goes on", trial.number, error)
        return False
    return True


def note_decision(trial: optuna.Trial, decision: PruneDecision) -> None:
    """Store why a trial is stopped before it is: whoever finds it after a kill in between knows it, too."""
    try:
        trial.set_user_attr(DECISION_ATTRIBUTE, decision.as_attribute())
    except (UpdateFinishedTrialError, ValueError) as error:
        _log.warning("trial %d was ended by another process (%s); it is stopped", trial.number, error)


def outcome(watch: Watch) -> dict[str, Any]:
    """What a continued sweep, and a reader of the study, must know of a run that is over."""
    row, decision = watch.row, watch.decision
    stopped = {DECISION_ATTRIBUTE: decision.as_attribute()} if decision is not None and decision.stop else {}
    return stopped | {
        STEPS: [row.step, row.max_steps],
        SCORES: [row.reward, row.evaluation],
        FORECAST: [row.forecast, row.low, row.high],
        MLFLOW_RUN: row.mlflow_run_id,
    }


def _tell_anew(
    study: optuna.Study, trial: optuna.Trial, state: TrialState, value: float | None, attributes: Mapping[str, Any]
) -> None:
    before = next(old for old in study.get_trials(deepcopy=False) if old.number == trial.number)
    if state is TrialState.FAIL:
        return
    told = optuna.trial.create_trial(
        state=state,
        value=value if state is TrialState.COMPLETE else _last(before.intermediate_values),
        params=before.params,
        distributions=before.distributions,
        intermediate_values=before.intermediate_values,
        user_attrs={**before.user_attrs, **attributes, CONTINUES: trial.number},
    )
    study.add_trial(told)


def _last(values: Mapping[int, float]) -> float | None:
    return values[max(values)] if values else None
