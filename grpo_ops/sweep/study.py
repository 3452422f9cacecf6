"""The Optuna side of a sweep: which study it is, its trials' owners, endings told, retries queued."""

import re
import secrets
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState
from sqlalchemy.exc import SQLAlchemyError

from grpo_ops.ending import Ending
from grpo_ops.errors import SweepError
from grpo_ops.home import Home, without_password
from grpo_ops.processes import identity
from grpo_ops.specs import SweepSpec
from grpo_ops.specs.effort import EffortSpec
from grpo_ops.sweep.attributes import (
    ATTEMPT,
    CLOSED,
    CONTINUES,
    ENDING,
    OWNER,
    POINT,
    POINT_AGAIN,
    REPEAT,
    REPEATS_OF,
    RUN_KEY,
    SPEC,
)
from grpo_ops.sweep.making import made_once
from grpo_ops.sweep.pruners import make_pruner
from grpo_ops.sweep.samplers import make_sampler

HEARTBEAT_SECONDS = 30
_GRACE_SECONDS = 180
STATES = {
    Ending.FINISHED: TrialState.COMPLETE,
    Ending.PLATEAU: TrialState.COMPLETE,
    Ending.HOPELESS: TrialState.PRUNED,
    Ending.DIVERGED: TrialState.PRUNED,
    Ending.CANCELLED: TrialState.FAIL,
    Ending.FAILED: TrialState.FAIL,
}
OVER = (TrialState.COMPLETE, TrialState.PRUNED)
#: What may differ between two starts of one study; where it is stored is nobody's business (passwords).
_FREE = {"trials", "storage", *EffortSpec.model_fields}


def open_storage(spec: SweepSpec, home: Home) -> optuna.storages.RDBStorage:
    """The RDB storage of the spec (default: SQLite in the home), with heartbeats on."""
    url = spec.storage or home.optuna_url
    home.root.mkdir(parents=True, exist_ok=True)
    arguments = {"connect_args": {"timeout": 60}} if url.startswith("sqlite") else {"pool_pre_ping": True}
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        with experimental_by_intent():
            return made_once(
                lambda: optuna.storages.RDBStorage(
                    url, engine_kwargs=arguments, heartbeat_interval=HEARTBEAT_SECONDS, grace_period=_GRACE_SECONDS
                )
            )
    except (SQLAlchemyError, ImportError, ValueError) as error:
        raise SweepError(
            f"the storage {without_password(url)} cannot be opened: {str(error).splitlines()[0][:200]}"
        ) from error


def study_name(spec: SweepSpec, storage: optuna.storages.RDBStorage) -> str:
    """The study to work on: an unfinished one of this spec is continued, else a new name such as `demo-3f9a`.

    The name is the study's identity in Optuna, MLflow and the run_keys: the random end keeps people with the same spec
    and one MLflow server apart.
    """
    pattern = re.compile(re.escape(spec.name) + r"-[0-9a-f]{4}")
    for name in reversed(optuna.get_all_study_names(storage)):
        if pattern.fullmatch(name):
            study = optuna.load_study(study_name=name, storage=storage)
            if study.user_attrs.get(SPEC) == fixed_part(spec) and not _is_done(study, spec):
                return name
    return f"{spec.name}-{secrets.token_hex(2)}"


def open_study(spec: SweepSpec, name: str, storage: optuna.storages.RDBStorage) -> optuna.Study:
    """Create the study or load it. A continued one draws new points, not the first ones again."""
    with experimental_by_intent():
        make_sampler(spec, 0)  # what is wrong with its options is said before there is a study
        pruner = make_pruner(spec)
        study = optuna.create_study(
            study_name=name, storage=storage, direction="maximize", load_if_exists=True, pruner=pruner
        )
        study.sampler = make_sampler(spec, len(study.get_trials(deepcopy=False)))
    if SPEC not in study.user_attrs:
        with experimental_by_intent():
            study.set_metric_names([spec.objective])
        study.set_user_attr(SPEC, fixed_part(spec))
    study.set_user_attr(CLOSED, False)
    _enqueue(study, spec)
    return study


def ask(study: optuna.Study, storage: optuna.storages.RDBStorage) -> optuna.Trial:
    """Ask for a trial and mark it as this process's: a retry keeps its run_key, a new trial gets one."""
    with experimental_by_intent():
        optuna.storages.fail_stale_trials(study)
        trial = study.ask()
    storage.record_heartbeat(trial._trial_id)
    trial.set_user_attr(OWNER, {"host": socket.gethostname(), **identity()})
    if RUN_KEY not in trial.user_attrs:
        trial.set_user_attr(ATTEMPT, 0)
        trial.set_user_attr(RUN_KEY, f"{study.study_name}-{trial.number:03d}")
    return trial


def queue_retry(study: optuna.Study, run_key: str) -> None:
    """Queue the next attempt of a run: the same settings and run_key; `continues` names the attempt before.

    The settings are those of the first attempt that drew any: a later one may have been killed before it did.
    """
    attempts = [trial for trial in study.get_trials(deepcopy=False) if trial.user_attrs.get(RUN_KEY) == run_key]
    drawn = next((trial.params for trial in attempts if trial.params), point_of(attempts[0]) or {})
    last = attempts[-1]
    kept = {name: attempts[0].user_attrs[name] for name in (REPEATS_OF, REPEAT) if name in attempts[0].user_attrs}
    attributes = {RUN_KEY: run_key, ATTEMPT: int(last.user_attrs.get(ATTEMPT, 0)) + 1, CONTINUES: last.number}
    study.enqueue_trial(drawn, user_attrs=kept | attributes)


def point_of(trial: FrozenTrial) -> dict[str, Any] | None:
    """The point that a trial was queued with, None for one that its sampler is to draw."""
    point: dict[str, Any] | None = trial.user_attrs.get(POINT, trial.user_attrs.get(POINT_AGAIN))
    return point


def last_attempts(study: optuna.Study) -> dict[str, FrozenTrial]:
    """run_key to its newest trial, in the order of the run_keys' first trials."""
    newest: dict[str, FrozenTrial] = {}
    for trial in study.get_trials(deepcopy=False):
        if RUN_KEY in trial.user_attrs:
            newest[trial.user_attrs[RUN_KEY]] = trial
    return newest


def first_number(study: optuna.Study, run_key: str) -> int:
    """Number of a run among the study's runs, in the order in which they were begun: 0, 1, 2, ..."""
    return list(last_attempts(study)).index(run_key)


def count_failed(study: optuna.Study, run_key: str) -> int:
    """Attempts of a run that failed (cancelled ones do not count)."""
    failed = study.get_trials(deepcopy=False, states=(TrialState.FAIL,))
    own = [trial.user_attrs for trial in failed if trial.user_attrs.get(RUN_KEY) == run_key]
    return sum(1 for attributes in own if attributes.get(ENDING) == Ending.FAILED.value)


def count_told(study: optuna.Study) -> int:
    """Runs whose last attempt is COMPLETE or PRUNED, without repeats."""
    return sum(1 for trial in last_attempts(study).values() if trial.state in OVER and not is_repeat(trial))


def is_repeat(trial: FrozenTrial | optuna.Trial) -> bool:
    """Whether the trial repeats the point of another with another seed: such a one is none of the trials asked for."""
    return REPEATS_OF in trial.user_attrs


@contextmanager
def experimental_by_intent() -> Iterator[None]:
    """Heartbeats with ask and tell are our intent: Optuna warns of both each time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        warnings.filterwarnings("ignore", message="Heartbeat of storage")
        yield


def fixed_part(spec: SweepSpec) -> dict[str, Any]:
    """What makes a study the study it is."""
    return spec.model_dump(mode="json", exclude=_FREE)


def _is_done(study: optuna.Study, spec: SweepSpec) -> bool:
    return bool(study.user_attrs.get(CLOSED)) and count_told(study) >= spec.trials


def _enqueue(study: optuna.Study, spec: SweepSpec) -> None:
    """Queue the settings to try first; a process killed on the way leaves the rest to the next one."""
    queued = [trial.user_attrs[POINT] for trial in study.get_trials(deepcopy=False) if POINT in trial.user_attrs]
    for point in spec.enqueue[len(queued) :]:
        study.enqueue_trial(point, user_attrs={POINT: point})
