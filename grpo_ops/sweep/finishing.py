"""A run is over: MLflow and Optuna are told, the others may compare with it, a failed one is tried again."""

from dataclasses import replace

from grpo_ops.ending import Ending
from grpo_ops.journal import RunFolder
from grpo_ops.supervise import RunResult
from grpo_ops.sweep import study as studies
from grpo_ops.sweep.budget import COST
from grpo_ops.sweep.close import close_watch
from grpo_ops.sweep.resume import Past
from grpo_ops.sweep.state import Live, State
from grpo_ops.sweep.telling import outcome, tell
from grpo_ops.sweep.watch import is_retriable, objective_value, view_of


def end_run(state: State, live: Live, folder: RunFolder, result: RunResult) -> None:
    """Tell everyone how the run ended; free its slot."""
    setting = state.setting
    if live.slot is not None:
        state.slots.release(live.slot)
    result = _as_before_the_thaw(state, live, result)
    upload = close_watch(live.watch, result, folder, setting.draw)
    state.uploads += [upload] if upload else []
    row, cost = live.watch.row, state.purse.meters[folder.key].cost
    extra = {**outcome(live.watch), COST: [cost.steps, round(cost.seconds, 3), cost.measured]}
    tell(setting.study, live.trial, result.ending, row.reason, objective_value(setting.spec, result), extra)
    if result.ending.is_success or result.ending.is_pruned:
        state.past[row.key] = Past(row, view_of(result, row.parameters))
        state.failures.clear()
        state.troubles.pop(row.key, None)
    elif result.ending is Ending.FAILED:
        _failed(state, row.key, result)


def _failed(state: State, key: str, result: RunResult) -> None:
    """Queue the next attempt; where no other is left, note why, and give up after some in a row."""
    study = state.setting.study
    words = f"trial {studies.first_number(study, key)} failed at step {result.step} ({result.reason})"
    if is_retriable(result) and studies.count_failed(study, key) <= state.setting.spec.retries:
        studies.queue_retry(study, key)
        state.troubles[key] = f"{words} and is tried again from its last checkpoint"
        return
    state.troubles[key] = f"{words} and is not tried again"
    state.failures.append(f"{key}: {result.reason}")
    if state.has_given_up:
        state.fleet.stop_all(Ending.CANCELLED.value, "the sweep gave up after failures in a row")


def _as_before_the_thaw(state: State, live: Live, result: RunResult) -> RunResult:
    """A thawed run that fails for good keeps the ending that it had: a second chance takes nothing away."""
    thawed = live.watch.thawed
    if thawed is None or result.ending is not Ending.FAILED:
        return result
    failed = studies.count_failed(state.setting.study, result.key) + 1
    if is_retriable(result) and failed <= state.setting.spec.retries:
        return result
    return replace(result, ending=thawed, reason=f"as before it was thawed; thawed, it failed: {result.reason}")
