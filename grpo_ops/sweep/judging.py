"""New journal lines of a live run: to its watch, to Optuna, and back to the trainer where it is to stop."""

import json
from collections.abc import Sequence

from grpo_ops.ending import Ending
from grpo_ops.journal import Entry, write_atomically
from grpo_ops.supervise import LiveRun
from grpo_ops.sweep.state import Live, State
from grpo_ops.sweep.telling import note_decision, report


def take_lines(state: State, run: LiveRun, entries: Sequence[Entry]) -> None:
    """Judge and report each new point; ask the trainer to stop where one of both says so."""
    live = state.live[run]
    state.purse.meters[run.folder.key].take(entries)
    stop = live.watch.take(entries, lambda: state.others(run))
    if stop is not None:
        note_decision(live.trial, stop)
        run.folder.request_stop(stop.reason.value, stop.sentence)
    question = live.watch.take_question()
    if question is not None:
        write_atomically(run.folder.ask, json.dumps(question))
    if _report(live) and _is_stopped_by_optuna(state, live):
        name = type(state.setting.study.pruner).__name__
        run.folder.request_stop(Ending.HOPELESS.value, f"Optuna's {name} stopped it")


def _report(live: Live) -> bool:
    """Report the judged points that Optuna does not have yet; whether there were any and Optuna took them."""
    curve = live.watch.view().judged(live.watch.rule)
    new = {point.step: point.reward for point in curve if point.step > live.reported}
    if new and live.is_known:
        live.reported = max(new)
        live.is_known = report(live.trial, new)
    return bool(new) and live.is_known


def _is_stopped_by_optuna(state: State, live: Live) -> bool:
    """Whether the study's own pruner stops it; a thawed trial, or a repeat, is compared with no other."""
    if not state.setting.spec.pruner.is_optunas or live.watch.thawed or live.watch.row.repeats_of:
        return False
    return live.trial.should_prune()
