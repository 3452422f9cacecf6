"""Trials that wait in the study to continue a run that was begun."""

import socket

import optuna
from optuna.trial import TrialState

from grpo_ops.processes import identity
from grpo_ops.sweep.attributes import OWNER, RUN_KEY


def claim_continuation(
    study: optuna.Study, storage: optuna.storages.RDBStorage, run_key: str | None = None
) -> optuna.Trial | None:
    """Take the next attempt of a run (of this one, or of any) out of the queue; None where none waits.

    `Study.ask` takes whatever waits first, new points as well.
    """
    for waiting in study.get_trials(deepcopy=False, states=(TrialState.WAITING,)):
        key = waiting.user_attrs.get(RUN_KEY)
        is_meant = key is not None and run_key in (None, key)
        if is_meant and storage.set_trial_state_values(waiting._trial_id, state=TrialState.RUNNING):
            trial = optuna.Trial(study, waiting._trial_id)
            storage.record_heartbeat(trial._trial_id)
            trial.set_user_attr(OWNER, {"host": socket.gethostname(), **identity()})
            return trial
    return None
