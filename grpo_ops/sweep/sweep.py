"""One Optuna study of GRPO runs: ask, run, judge, tell; continued where it was interrupted."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import optuna

from grpo_ops.errors import SpecError, SweepError
from grpo_ops.home import Home
from grpo_ops.journal import Entry, RunFolder, read_journal
from grpo_ops.pruning import PruneRule, TrialView
from grpo_ops.pruning.types import DECISION_ATTRIBUTE
from grpo_ops.specs import RunSpec, SweepSpec
from grpo_ops.supervise import (
    Ended,
    Ending,
    Event,
    Fleet,
    Launcher,
    Lines,
    ProcessLauncher,
    RunResult,
    guarded_follow,
    prepare,
    run_folder,
)
from grpo_ops.supervise.follow import LiveRun
from grpo_ops.supervise.prepare import Lock
from grpo_ops.sweep import study as studies
from grpo_ops.sweep.board import Board, Row, leaderboard, study_note
from grpo_ops.sweep.close import Draw, close_watch
from grpo_ops.sweep.resume import Past, past_runs, requeue, settle_orphans
from grpo_ops.sweep.space import suggest
from grpo_ops.sweep.watch import Watch, is_retriable, objective_value, rule_for, view_of
from grpo_ops.tracking import Study, Upload, close_study, open_run, open_study

Show = Callable[[Board], None]
_MOST_FAILURES_IN_A_ROW = 3


def run_sweep(
    spec: SweepSpec,
    home: Home | None = None,
    *,
    launcher: Launcher | None = None,
    show: Show = lambda board: None,
    draw: Draw | None = None,
    allow_import_paths: bool = False,
) -> Board:
    """Run the study of `spec` to its end, or continue an unfinished one; the board that it ends with.

    Raises SweepError when run after run fails, SupervisionError if another process on this machine runs it.
    """
    home = home or Home.here()
    storage = studies.open_storage(spec, home)
    name = studies.study_name(spec, storage)
    lock = Lock(home.root / "locks" / f"study-{name}", f"study {name}")
    try:
        study = studies.open_study(spec, name, storage)
        sweep = _Sweep(spec, home, study, storage, Fleet(launcher or _launcher(spec)), show, draw, allow_import_paths)
        return sweep.run()
    finally:
        lock.release()


@dataclass(eq=False)
class _Live:
    trial: optuna.Trial
    watch: Watch
    reported: int = -1


@dataclass(eq=False)
class _Sweep:
    spec: SweepSpec
    home: Home
    study: optuna.Study
    storage: optuna.storages.RDBStorage
    fleet: Fleet
    show: Show
    draw: Draw | None
    allow_import_paths: bool
    live: dict[LiveRun, _Live] = field(default_factory=dict)
    past: dict[str, Past] = field(default_factory=dict)
    uploads: list[Upload] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    beaten: float = field(default_factory=time.monotonic)

    def run(self) -> Board:
        parent = open_study(
            self.home, self.spec.run.experiment, self.study.study_name, spec=self.spec.model_dump(mode="json")
        )
        settle_orphans(self.study, self.home, self.spec)
        requeue(self.study, self.spec.retries)
        self.past = past_runs(self.study, self.home)
        self._fill()
        with closing(guarded_follow(self.fleet)) as events:
            for event in events:
                self._handle(event)
        return self._close(parent)

    @property
    def board(self) -> Board:
        rows = [past.row for past in self.past.values()] + [live.watch.row for live in self.live.values()]
        return Board(self.study.study_name, self.spec.trials, tuple(sorted(rows, key=lambda row: row.number)))

    def _handle(self, event: Event) -> None:
        if isinstance(event, Lines):
            self._lines(event.run, event.entries)
        elif isinstance(event, Ended):
            self._ended(self.live.pop(event.run), event.run.folder, event.result)
        else:
            self._beat()
            self._fill()
            return
        self.show(self.board)

    def _fill(self) -> None:
        """Start runs while slots are free and trials are wanted."""
        while not self._is_winding_up and len(self.live) < self.spec.parallel and self._wanted > 0:
            self._start(studies.ask(self.study, self.storage))

    @property
    def _wanted(self) -> int:
        return self.spec.trials - self.board.told - len(self.live)

    @property
    def _is_winding_up(self) -> bool:
        return self.fleet.interrupted is not None or len(self.failures) >= _MOST_FAILURES_IN_A_ROW

    def _start(self, trial: optuna.Trial) -> None:
        key, parameters = trial.user_attrs["run_key"], suggest(trial, self.spec)
        try:
            spec = self.spec.with_parameters(parameters)
        except SpecError as error:
            self.failures.append(str(error))
            studies.tell(self.study, trial, Ending.FAILED, f"SpecError: {error}", None)
            return
        folder = run_folder(self.home, key)
        attempt = prepare(folder, spec, allow_import_paths=self.allow_import_paths)
        tags = {"grpo_ops.trial": str(trial.number)}
        tracker = open_run(self.home, spec, key, study=self.study.study_name, name=key, tags=tags)
        trial.set_user_attr("mlflow_run_id", tracker.run_id)
        number = studies.first_number(self.study, key)
        row = Row(key, number, parameters, spec.grpo.max_steps, attempt, mlflow_run_id=tracker.run_id)
        live = _Live(trial, Watch(spec, self._rule(spec), tracker, row, prunes=self.spec.pruner.name == "law"))
        live.watch.recall(read_journal(folder.journal) if folder.journal.exists() else ())
        self.past.pop(key, None)
        self.live[self.fleet.start(folder, no_progress_seconds=spec.stopping.no_progress_seconds)] = live
        self.show(self.board)

    def _rule(self, spec: RunSpec) -> PruneRule:
        return rule_for(spec, self.spec.objective, self.spec.direction, self.spec.pruner.caution)

    def _lines(self, run: LiveRun, entries: Sequence[Entry]) -> None:
        live = self.live[run]
        stop = live.watch.take(entries, lambda: self._others(run))
        if stop is not None:
            live.trial.set_user_attr(DECISION_ATTRIBUTE, stop.as_attribute())
            run.folder.request_stop(stop.reason.value, stop.sentence)
        if self._report(live) and self.spec.pruner.name == "median" and live.trial.should_prune():
            run.folder.request_stop(Ending.HOPELESS.value, "Optuna's MedianPruner stopped it")

    def _report(self, live: _Live) -> bool:
        """Report the judged points that Optuna does not have yet."""
        curve = live.watch.view().judged(live.watch.rule)
        new = [point for point in curve if point.step > live.reported]
        for point in new:
            live.trial.report(point.reward, point.step)
            live.reported = point.step
        return bool(new)

    def _others(self, run: LiveRun) -> list[TrialView]:
        running = [live.watch.view() for other, live in self.live.items() if other is not run]
        return [past.view for past in self.past.values()] + running

    def _ended(self, live: _Live, folder: RunFolder, result: RunResult) -> None:
        upload = close_watch(live.watch, result, folder, self.draw)
        self.uploads += [upload] if upload else []
        ending, row = result.ending, live.watch.row
        studies.tell(self.study, live.trial, ending, row.reason, objective_value(self.spec, result))
        self.past[row.key] = Past(row, view_of(result, row.parameters))
        if ending is Ending.FAILED:
            self._failed(live.trial, result)
        elif ending is not Ending.CANCELLED:
            self.failures.clear()

    def _failed(self, trial: optuna.Trial, result: RunResult) -> None:
        attempts = studies.count_failed(self.study, result.key)
        if is_retriable(result) and attempts <= self.spec.retries:
            studies.queue_retry(self.study, trial)
            return
        self.failures.append(f"{result.key}: {result.reason}")
        if self._is_winding_up:
            self.fleet.stop_all(Ending.CANCELLED.value, "the sweep gave up after failures in a row")

    def _beat(self) -> None:
        if time.monotonic() - self.beaten < studies.HEARTBEAT_SECONDS:
            return
        self.beaten = time.monotonic()
        for live in self.live.values():
            self.storage.record_heartbeat(live.trial._trial_id)

    def _close(self, parent: Study) -> Board:
        for upload in self.uploads:
            upload.wait()
        board = self.board
        ending = "cancelled" if self.fleet.interrupted else "failed" if self.failures else "finished"
        close_study(parent, ending, leaderboard(board), note=study_note(board))
        self.show(board)
        self.fleet.raise_interrupt()
        if len(self.failures) >= _MOST_FAILURES_IN_A_ROW:
            raise SweepError(
                f"study {board.study} gave up: {len(self.failures)} runs in a row failed, the last by "
                f"{self.failures[-1]}"
            )
        return board


def _launcher(spec: SweepSpec) -> ProcessLauncher:
    return ProcessLauncher(threads=max(1, (os.cpu_count() or 1) // spec.parallel))
