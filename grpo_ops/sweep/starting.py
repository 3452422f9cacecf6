"""Starting runs: which trial is next, in which slot, under which eyes."""

import optuna

from grpo_ops.ending import Ending
from grpo_ops.errors import SpecError
from grpo_ops.specs import RunSpec
from grpo_ops.supervise import RunResult, prepare, run_folder
from grpo_ops.sweep import study as studies
from grpo_ops.sweep.attributes import MLFLOW_RUN, RUN_KEY
from grpo_ops.sweep.budget import read_meter
from grpo_ops.sweep.finishing import end_run
from grpo_ops.sweep.opening import open_watch
from grpo_ops.sweep.queue import queue_most_promising
from grpo_ops.sweep.repeats import queue_repeat, wants_repeat
from grpo_ops.sweep.space import run_of, suggest
from grpo_ops.sweep.state import Live, State
from grpo_ops.sweep.telling import tell
from grpo_ops.sweep.thaw import next_to_thaw, queue_thaw
from grpo_ops.sweep.waiting import claim_continuation

_LENGTH = "grpo.max_steps"


def fill(state: State) -> None:
    """Start runs while slots are free and trials are wanted."""
    while state.slots.free and not state.is_winding_up:
        trial = _next(state)
        if trial is None:
            return
        start(state, trial)


def start(state: State, trial: optuna.Trial) -> None:
    """Start the trainer of `trial`; settings that make no valid run fail it."""
    setting = state.setting
    parameters = suggest(trial, setting.spec)
    try:
        spec = run_of(trial, setting.spec, parameters)
    except SpecError as error:
        state.failures.append(str(error))
        tell(setting.study, trial, Ending.FAILED, f"SpecError: {error}")
        return
    folder = run_folder(setting.home, trial.user_attrs[RUN_KEY])
    attempt = prepare(folder, spec, allow_import_paths=setting.allow_import_paths)
    watch = open_watch(setting, trial, spec, folder, parameters, attempt)
    trial.set_user_attr(MLFLOW_RUN, watch.tracker.run_id)
    state.purse.meters[folder.key] = read_meter(folder, trial.user_attrs)
    _launch(state, Live(trial, watch, state.slots.take()), spec)


def settle(state: State, trial: optuna.Trial, result: RunResult) -> None:
    """End a run that was over when its sweep's process was killed, as if that process were still there."""
    setting = state.setting
    spec = run_of(trial, setting.spec, dict(trial.params))
    folder = run_folder(setting.home, result.key)
    watch = open_watch(setting, trial, spec, folder, dict(trial.params), result.attempt)
    state.purse.meters[folder.key] = read_meter(folder, trial.user_attrs)
    end_run(state, Live(trial, watch), folder, result)


def _launch(state: State, live: Live, spec: RunSpec) -> None:
    assert live.slot is not None
    folder = run_folder(state.setting.home, live.watch.row.key)
    seconds = spec.stopping.no_progress_seconds
    run = state.fleet.start(folder, no_progress_seconds=seconds, environment=live.slot.environment)
    state.live[run] = live
    state.show()


def _next(state: State) -> optuna.Trial | None:
    """The trial to start now: a run that was begun goes on whatever the budget says, a new one must fit in it."""
    study, storage, only = state.setting.study, state.setting.storage, state.setting.only
    if only is not None:
        return claim_continuation(study, storage, only)
    if state.wanted <= 0:
        return (None if state.live else _thawed(state)) or _repeat(state)
    begun = claim_continuation(study, storage)
    if begun is not None:
        return begun
    state.refused = _refusal(state)
    if state.refused is not None:
        return None
    queue_most_promising(study, state.setting.spec, [past.row for past in state.past.values()], state.wanted)
    return studies.ask(study, storage)


def _thawed(state: State) -> optuna.Trial | None:
    """All runs are over: the stopped one that goes on with a share of the steps that stopping has saved."""
    study = state.setting.study
    past = next_to_thaw(study, state.past, state.setting.spec.thaw, state.setting.spec.objective)
    state.refused = state.purse.refusal(past.row.max_steps - past.row.step) if past is not None else None
    if past is None or state.refused is not None:
        return None
    del state.past[past.row.key]
    queue_thaw(study, past.row)
    return claim_continuation(study, state.setting.storage, past.row.key)


def _repeat(state: State) -> optuna.Trial | None:
    """All trials are over: the next run with another seed of a point that cannot be told from the best."""
    study, storage, spec = state.setting.study, state.setting.storage, state.setting.spec
    begun = claim_continuation(study, storage)
    if begun is not None or spec.repeats == 1 or any(live.watch.row.repeats_of is None for live in state.live.values()):
        return begun
    if not wants_repeat(study, spec, state.past):
        return None
    state.refused = _refusal(state)
    key = queue_repeat(study, spec, state.past) if state.refused is None else None
    return None if key is None else claim_continuation(study, storage, key)


def _refusal(state: State) -> str | None:
    """Why no new run is started: it might not fit into the budget beside what the live ones may still use."""
    spec = state.setting.spec
    length = max(spec.values(_LENGTH)) if _LENGTH in spec.space else spec.run.grpo.max_steps
    to_come = sum(live.watch.row.max_steps - live.watch.row.step for live in state.live.values())
    return state.purse.refusal(to_come + int(length))
