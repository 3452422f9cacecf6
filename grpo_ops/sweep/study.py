"""The Optuna side of a sweep: which study it is, its trials' owners, endings told, retries queued."""

import os
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import optuna
import psutil
from optuna.trial import FrozenTrial, TrialState

from grpo_ops.home import Home
from grpo_ops.specs import SweepSpec
from grpo_ops.supervise import Ending, is_alive

HEARTBEAT_SECONDS = 30
_GRACE_SECONDS = 180
_STATES = {
    Ending.FINISHED: TrialState.COMPLETE,
    Ending.PLATEAU: TrialState.COMPLETE,
    Ending.HOPELESS: TrialState.PRUNED,
    Ending.DIVERGED: TrialState.PRUNED,
    Ending.CANCELLED: TrialState.FAIL,
    Ending.FAILED: TrialState.FAIL,
}
#: What may differ between two starts of one study.
_FREE = {"trials", "parallel", "retries", "storage"}


def open_storage(spec: SweepSpec, home: Home) -> optuna.storages.RDBStorage:
    """The RDB storage of the spec (default: SQLite in the home), with heartbeats on."""
    url = spec.storage or home.optuna_url
    home.root.mkdir(parents=True, exist_ok=True)
    arguments = {"connect_args": {"timeout": 60}} if url.startswith("sqlite") else {"pool_pre_ping": True}
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with experimental_by_intent():
        return optuna.storages.RDBStorage(
            url, engine_kwargs=arguments, heartbeat_interval=HEARTBEAT_SECONDS, grace_period=_GRACE_SECONDS
        )


def study_name(spec: SweepSpec, storage: optuna.storages.RDBStorage) -> str:
    """The study to work on: an unfinished one of this spec is continued, else a new name (`demo`, `demo-2`, ...)."""
    for number in range(1, 10_000):
        name = spec.name if number == 1 else f"{spec.name}-{number}"
        try:
            study = optuna.load_study(study_name=name, storage=storage)
        except KeyError:
            return name
        if study.user_attrs.get("grpo_ops.spec") == _fixed_part(spec) and count_told(study) < spec.trials:
            return name
    raise AssertionError("ten thousand studies of one name")


def open_study(spec: SweepSpec, name: str, storage: optuna.storages.RDBStorage) -> optuna.Study:
    """Create the study or load it. A continued one draws new points, not the first ones again."""
    study = optuna.create_study(study_name=name, storage=storage, direction=spec.direction, load_if_exists=True)
    drawn = len(study.get_trials(deepcopy=False))
    study.sampler = _sampler(spec, drawn)
    study.pruner = _pruner(spec)
    if not drawn:
        with experimental_by_intent():
            study.set_metric_names([spec.objective])
        study.set_user_attr("grpo_ops.spec", _fixed_part(spec))
        for point in spec.enqueue:
            study.enqueue_trial(point)
    return study


def ask(study: optuna.Study, storage: optuna.storages.RDBStorage) -> optuna.Trial:
    """Ask for a trial and mark it as this process's: a retry keeps its run_key, a new trial gets one."""
    with experimental_by_intent():
        optuna.storages.fail_stale_trials(study)
        trial = study.ask()
    storage.record_heartbeat(trial._trial_id)
    if "run_key" not in trial.user_attrs:
        trial.set_user_attr("run_key", f"{study.study_name}-{trial.number:03d}")
        trial.set_user_attr("attempt", 0)
    trial.set_user_attr("grpo_ops.owner", _this_process())
    return trial


def tell(study: optuna.Study, trial: optuna.Trial, ending: Ending, reason: str, value: float | None) -> None:
    """Store the ending with its reason, then end the trial with the status that follows from it."""
    state = _STATES[ending]
    if state is TrialState.COMPLETE and value is None:
        state, reason = TrialState.FAIL, f"{reason}; but it has no value to tell"
        ending = Ending.FAILED
    trial.set_user_attr("grpo_ops.ending", ending.value)
    trial.set_user_attr("grpo_ops.reason", reason[:500])
    study.tell(trial, value if state is TrialState.COMPLETE else None, state=state, skip_if_finished=True)


def queue_retry(study: optuna.Study, trial: optuna.Trial | FrozenTrial) -> None:
    """Queue the next attempt of a trial: same parameters, same run_key, `continues` names the one before."""
    attempt = int(trial.user_attrs.get("attempt", 0)) + 1
    attributes = {"run_key": trial.user_attrs["run_key"], "attempt": attempt, "continues": trial.number}
    study.enqueue_trial(trial.params, user_attrs=attributes)


def last_attempts(study: optuna.Study) -> dict[str, FrozenTrial]:
    """run_key to its newest trial, in the order of the run_keys' first trials."""
    newest: dict[str, FrozenTrial] = {}
    for trial in study.get_trials(deepcopy=False):
        if "run_key" in trial.user_attrs:
            newest[trial.user_attrs["run_key"]] = trial
    return newest


def first_number(study: optuna.Study, run_key: str) -> int:
    """Number of a run among the study's runs, in the order in which they were begun: 0, 1, 2, ..."""
    return list(last_attempts(study)).index(run_key)


def count_failed(study: optuna.Study, run_key: str) -> int:
    """Attempts of a run that failed (cancelled ones do not count)."""
    failed = study.get_trials(deepcopy=False, states=(TrialState.FAIL,))
    return sum(
        1
        for trial in failed
        if trial.user_attrs.get("run_key") == run_key and trial.user_attrs.get("grpo_ops.ending") == Ending.FAILED.value
    )


def count_told(study: optuna.Study) -> int:
    """Runs whose last attempt is COMPLETE or PRUNED."""
    over = (TrialState.COMPLETE, TrialState.PRUNED)
    return sum(1 for trial in last_attempts(study).values() if trial.state in over)


def orphans(study: optuna.Study) -> Iterator[FrozenTrial]:
    """RUNNING trials whose process on this machine is gone (those of other machines go stale by their heartbeat)."""
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        owner = trial.user_attrs.get("grpo_ops.owner") or {"host": socket.gethostname()}
        if owner["host"] == socket.gethostname() and not is_alive(owner):
            yield trial


@contextmanager
def experimental_by_intent() -> Iterator[None]:
    """Heartbeats with ask and tell are our intent: Optuna warns of both each time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        warnings.filterwarnings("ignore", message="Heartbeat of storage")
        yield


def _sampler(spec: SweepSpec, drawn: int) -> optuna.samplers.BaseSampler:
    seed = spec.seed + 7919 * drawn
    if spec.sampler == "random":
        return optuna.samplers.RandomSampler(seed=seed)
    return optuna.samplers.TPESampler(seed=seed, n_startup_trials=min(10, max(2, spec.trials // 2)))


def _pruner(spec: SweepSpec) -> optuna.pruners.BasePruner:
    """For `law` the sweep judges itself, with outcomes that a study cannot hold; the study's own pruner stays out."""
    return optuna.pruners.MedianPruner() if spec.pruner.name == "median" else optuna.pruners.NopPruner()


def _fixed_part(spec: SweepSpec) -> dict[str, Any]:
    return spec.model_dump(mode="json", exclude=_FREE)


def _this_process() -> dict[str, Any]:
    return {"host": socket.gethostname(), "pid": os.getpid(), "started": psutil.Process().create_time()}
