"""The sweep at work: starts runs while trials are wanted, judges them as their journals grow, tells how they ended."""

import logging
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field

import optuna

from grpo_ops.ending import Ending
from grpo_ops.errors import SpecError, SweepError
from grpo_ops.journal import Entry, RunFolder
from grpo_ops.pruning import TrialView
from grpo_ops.supervise import Ended, Event, Fleet, Lines, LiveRun, RunResult, guarded_follow, prepare, run_folder
from grpo_ops.sweep import study as studies
from grpo_ops.sweep.attributes import CLOSED, MLFLOW_RUN, RUN_KEY
from grpo_ops.sweep.board import Board, leaderboard, study_note
from grpo_ops.sweep.close import close_watch
from grpo_ops.sweep.opening import Setting, open_watch
from grpo_ops.sweep.resume import Past, past_runs, requeue, settle_orphans
from grpo_ops.sweep.space import suggest
from grpo_ops.sweep.telling import outcome, report, tell
from grpo_ops.sweep.watch import Watch, is_retriable, objective_value, view_of
from grpo_ops.tracking import Study, Upload, close_study, open_study

_MOST_FAILURES_IN_A_ROW = 3
_STOPPING = "stopping: trainers save their checkpoints (once more to end them now)"
_log = logging.getLogger(__name__)


@dataclass(eq=False)
class _Live:
    trial: optuna.Trial
    watch: Watch
    reported: int = -1
    is_known: bool = True


@dataclass(eq=False)
class Coordinator:
    """One process's part in a study."""

    setting: Setting
    fleet: Fleet
    live: dict[LiveRun, _Live] = field(default_factory=dict)
    past: dict[str, Past] = field(default_factory=dict)
    uploads: list[Upload] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    beaten: float = field(default_factory=time.monotonic)

    def run(self) -> Board:
        """Bring the study to its end. Raises SweepError when run after run fails."""
        spec, study = self.setting.spec, self.setting.study
        # The storage's URL may hold a password: it goes nowhere.
        settings = spec.model_dump(mode="json", exclude={"storage"})
        parent = open_study(self.setting.home, spec.run.experiment, study.study_name, spec=settings)
        try:
            self._take_over()
            with closing(guarded_follow(self.fleet)) as events:
                for event in events:
                    self._handle(event)
            board = self._close(parent)
        except BaseException as error:
            self._abandon(parent, error)
            raise
        self.fleet.raise_interrupt()
        if self._is_winding_up:
            raise SweepError(
                f"study {board.study} gave up: {len(self.failures)} runs in a row failed, the last: {self.failures[-1]}"
            )
        return board

    @property
    def board(self) -> Board:
        rows = [past.row for past in self.past.values()] + [live.watch.row for live in self.live.values()]
        note = _STOPPING if self.fleet.interrupted and self.fleet.runs else ""
        name, asked = self.setting.study.study_name, self.setting.spec.trials
        return Board(name, asked, tuple(sorted(rows, key=lambda row: row.number)), note)

    def _take_over(self) -> None:
        study, home = self.setting.study, self.setting.home
        settle_orphans(study, home, self._settle)
        requeue(study, self.setting.spec.retries)
        self.past = past_runs(study, home)
        self.setting.show(self.board)
        self._fill()

    def _handle(self, event: Event) -> None:
        if isinstance(event, Lines):
            self._lines(event.run, event.entries)
        elif isinstance(event, Ended):
            self._ended(self.live.pop(event.run), event.run.folder, event.result)
        else:
            self._beat()
            self._fill()
            if not self.fleet.interrupted:
                return
        self.setting.show(self.board)

    def _fill(self) -> None:
        """Start runs while slots are free and trials are wanted."""
        while not self._is_winding_up and len(self.live) < self.setting.spec.parallel and self._wanted > 0:
            self._start(studies.ask(self.setting.study, self.setting.storage))

    @property
    def _wanted(self) -> int:
        return self.setting.spec.trials - len(self.past) - len(self.live)

    @property
    def _is_winding_up(self) -> bool:
        return self.fleet.interrupted is not None or len(self.failures) >= _MOST_FAILURES_IN_A_ROW

    def _start(self, trial: optuna.Trial) -> None:
        parameters = suggest(trial, self.setting.spec)
        try:
            spec = self.setting.spec.with_parameters(parameters)
        except SpecError as error:
            self.failures.append(str(error))
            tell(self.setting.study, trial, Ending.FAILED, f"SpecError: {error}")
            return
        folder = run_folder(self.setting.home, trial.user_attrs[RUN_KEY])
        attempt = prepare(folder, spec, allow_import_paths=self.setting.allow_import_paths)
        watch = open_watch(self.setting, trial, spec, folder, parameters, attempt)
        trial.set_user_attr(MLFLOW_RUN, watch.tracker.run_id)
        run = self.fleet.start(folder, no_progress_seconds=spec.stopping.no_progress_seconds)
        self.live[run] = _Live(trial, watch)
        self.setting.show(self.board)

    def _settle(self, trial: optuna.Trial, result: RunResult) -> None:
        """End a run that was over when its sweep's process was killed, as if that process were still there."""
        spec = self.setting.spec.with_parameters(dict(trial.params))
        folder = run_folder(self.setting.home, result.key)
        watch = open_watch(self.setting, trial, spec, folder, dict(trial.params), result.attempt)
        self._ended(_Live(trial, watch), folder, result)

    def _lines(self, run: LiveRun, entries: Sequence[Entry]) -> None:
        live = self.live[run]
        stop = live.watch.take(entries, lambda: self._others(run))
        if stop is not None:
            run.folder.request_stop(stop.reason.value, stop.sentence)
        if self._report(live) and self.setting.spec.pruner.name == "median" and live.trial.should_prune():
            run.folder.request_stop(Ending.HOPELESS.value, "Optuna's MedianPruner stopped it")

    def _report(self, live: _Live) -> bool:
        """Report the judged points that Optuna does not have yet; whether there were any and Optuna took them."""
        curve = live.watch.view().judged(live.watch.rule)
        new = {point.step: point.reward for point in curve if point.step > live.reported}
        if new and live.is_known:
            live.reported = max(new)
            live.is_known = report(live.trial, new)
        return bool(new) and live.is_known

    def _others(self, run: LiveRun) -> list[TrialView]:
        running = [live.watch.view() for other, live in self.live.items() if other is not run]
        return [past.view for past in self.past.values()] + running

    def _ended(self, live: _Live, folder: RunFolder, result: RunResult) -> None:
        upload = close_watch(live.watch, result, folder, self.setting.draw)
        self.uploads += [upload] if upload else []
        row = live.watch.row
        value = objective_value(self.setting.spec, result)
        tell(self.setting.study, live.trial, result.ending, row.reason, value, outcome(live.watch))
        if result.ending.is_success or result.ending.is_pruned:
            self.past[row.key] = Past(row, view_of(result, row.parameters))
            self.failures.clear()
        elif result.ending is Ending.FAILED:
            self._failed(row.key, result)

    def _failed(self, key: str, result: RunResult) -> None:
        attempts = studies.count_failed(self.setting.study, key)
        if is_retriable(result) and attempts <= self.setting.spec.retries:
            studies.queue_retry(self.setting.study, key)
            return
        self.failures.append(f"{key}: {result.reason}")
        if self._is_winding_up:
            self.fleet.stop_all(Ending.CANCELLED.value, "the sweep gave up after failures in a row")

    def _beat(self) -> None:
        if time.monotonic() - self.beaten < studies.HEARTBEAT_SECONDS:
            return
        self.beaten = time.monotonic()
        for live in self.live.values():
            self.setting.storage.record_heartbeat(live.trial._trial_id)

    def _close(self, parent: Study) -> Board:
        for upload in self.uploads:
            upload.wait()
        board = self.board
        ending = "cancelled" if self.fleet.interrupted else "failed" if self._is_winding_up else "finished"
        trouble = close_study(parent, ending, leaderboard(board), note=study_note(board))
        if trouble:
            _log.warning("study %s is not closed in MLflow: %s", board.study, trouble)
        self.setting.study.set_user_attr(CLOSED, ending == "finished")
        self.setting.show(board)
        return board

    def _abandon(self, parent: Study, error: BaseException) -> None:
        """The loop itself broke: its trainers are gone, MLflow hears of it; a new start settles and continues."""
        words = f"the sweep's process broke off: {type(error).__name__}"
        for live in self.live.values():
            live.watch.tracker.close(Ending.CANCELLED.value, words, upload=False)
        close_study(parent, Ending.CANCELLED.value, leaderboard(self.board), note=words)
