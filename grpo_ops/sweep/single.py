"""One GRPO run on its own: prepared, supervised, tracked, judged by its own curve."""

import hashlib
import logging
import secrets
from contextlib import closing
from dataclasses import dataclass, replace

from grpo_ops.home import Home
from grpo_ops.journal import RunFolder, write_atomically
from grpo_ops.specs import RunSpec
from grpo_ops.supervise import (
    Ended,
    Fleet,
    Launcher,
    Lines,
    ProcessLauncher,
    RunResult,
    conclude,
    guarded_follow,
    prepare,
    run_folder,
)
from grpo_ops.supervise.prepare import Lock
from grpo_ops.sweep.board import Board, Row, Show, concluded
from grpo_ops.sweep.close import Draw, close_watch, closed_run
from grpo_ops.sweep.watch import Watch, rule_for
from grpo_ops.tracking import Upload, open_run

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrainReport:
    """A run that is over, its row for people, and its MLflow run (None while MLflow is away).

    was_over: the run had ended before; nothing was done.
    """

    result: RunResult
    row: Row
    was_over: bool = False


def train(
    spec: RunSpec,
    home: Home | None = None,
    *,
    launcher: Launcher | None = None,
    show: Show = lambda board: None,
    draw: Draw | None = None,
    allow_import_paths: bool = False,
) -> TrainReport:
    """Run `spec`, or continue it where it was interrupted; the same spec is the same run.

    Raises SupervisionError if the run is live elsewhere. A run that fails is a result, not an exception.
    """
    home = home or Home.here()
    folder = run_folder(home, run_key(spec, home))
    lock = Lock(home.root / "locks" / f"run-{folder.key}", f"run {folder.key}")
    try:
        over = already_over(folder)
        if over is not None:
            return _report_over(spec, folder, over, home, draw)
        return _train(spec, folder, home, launcher or ProcessLauncher(), show, draw, allow_import_paths)
    finally:
        lock.release()


def run_key(spec: RunSpec, home: Home) -> str:
    """Key of a run on its own: its name and a digest of its spec and of this home.

    The home's part keeps the runs of two people apart who share an MLflow server and a spec.
    """
    return f"{spec.name}-{hashlib.sha256(f'{_home_id(home)} {spec.model_dump_json()}'.encode()).hexdigest()[:8]}"


def _home_id(home: Home) -> str:
    path = home.root / "id"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, secrets.token_hex(8))
    return path.read_text(encoding="utf-8")


def already_over(folder: RunFolder) -> RunResult | None:
    """The result of a run that has ended well or was stopped for good, None for one that can go on."""
    if folder.read_json(folder.result) is None:
        return None
    result = conclude(folder, None)
    return result if result.ending.is_success or result.ending.is_pruned else None


def _report_over(spec: RunSpec, folder: RunFolder, over: RunResult, home: Home, draw: Draw | None) -> TrainReport:
    """Nothing is trained; what a killed supervisor did not get to close is closed."""
    is_closed, run_id = closed_run(folder, over.attempt)
    row = replace(_first_row(spec, folder.key), mlflow_run_id=run_id)
    if is_closed:
        return TrainReport(over, concluded(row, over), was_over=True)
    watch = _open_watch(spec, folder, home, over.attempt)
    _wait_for(close_watch(watch, over, folder, draw))
    return TrainReport(over, watch.row, was_over=True)


def _open_watch(spec: RunSpec, folder: RunFolder, home: Home, attempt: int) -> Watch:
    tracker = open_run(home, spec, folder.key)
    row = replace(_first_row(spec, folder.key), attempt=attempt, mlflow_run_id=tracker.run_id)
    watch = Watch(spec, rule_for(spec, "reward"), tracker, row)
    watch.recall(folder.entries())
    return watch


def _wait_for(upload: Upload | None) -> None:
    trouble = upload.wait() if upload is not None else None
    if trouble:
        _log.warning("not all files are in MLflow: %s", trouble)


def _train(
    spec: RunSpec,
    folder: RunFolder,
    home: Home,
    launcher: Launcher,
    show: Show,
    draw: Draw | None,
    allow_import_paths: bool,
) -> TrainReport:
    attempt = prepare(folder, spec, allow_import_paths=allow_import_paths)
    watch = _open_watch(spec, folder, home, attempt)
    fleet = Fleet(launcher)
    fleet.start(folder, no_progress_seconds=spec.stopping.no_progress_seconds)
    result = _follow(fleet, watch, show)
    _wait_for(close_watch(watch, result, folder, draw))
    show(_board(watch))
    fleet.raise_interrupt()
    return TrainReport(result, replace(watch.row, mlflow_run_id=watch.tracker.run_id))


def _follow(fleet: Fleet, watch: Watch, show: Show) -> RunResult:
    results = []
    with closing(guarded_follow(fleet)) as events:
        for event in events:
            if isinstance(event, Lines):
                _take(watch, event)
                show(_board(watch))
            elif isinstance(event, Ended):
                results.append(event.result)
    return results[0]


def _take(watch: Watch, event: Lines) -> None:
    stop = watch.take(event.entries)
    if stop is not None:
        event.run.folder.request_stop(stop.reason.value, stop.sentence)


def _first_row(spec: RunSpec, key: str) -> Row:
    return Row(key, 0, {"grpo.learning_rate": spec.grpo.learning_rate}, spec.grpo.max_steps)


def _board(watch: Watch) -> Board:
    return Board(watch.spec.name, 1, (watch.row,))
