"""The sweep at work: starts runs while trials are wanted, judges them as their journals grow, tells how they ended."""

import contextlib
import logging
import time
from contextlib import closing
from dataclasses import dataclass

from optuna.exceptions import OptunaError
from sqlalchemy.exc import SQLAlchemyError

from grpo_ops.ending import Ending
from grpo_ops.errors import SweepError
from grpo_ops.supervise import Ended, Event, Lines, guarded_follow, run_folder
from grpo_ops.sweep import study as studies
from grpo_ops.sweep.attributes import CLOSED
from grpo_ops.sweep.board import Board, leaderboard, study_note
from grpo_ops.sweep.budget import read_meter
from grpo_ops.sweep.finishing import end_run
from grpo_ops.sweep.judging import take_lines
from grpo_ops.sweep.repeats import winner_of
from grpo_ops.sweep.resume import past_runs, requeue, settle_orphans
from grpo_ops.sweep.starting import fill, settle
from grpo_ops.sweep.state import State
from grpo_ops.sweep.telling import tell
from grpo_ops.tracking import Study, close_study, open_study

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class Coordinator:
    """One process's part in a study."""

    state: State

    def run(self) -> Board:
        """Bring the study to its end. Raises SweepError when run after run fails."""
        state, setting = self.state, self.state.setting
        # The storage's URL may hold a password: it goes nowhere.
        settings = setting.spec.model_dump(mode="json", exclude={"storage"})
        spec = settings if setting.only is None else None  # a thaw changes nothing of what the study was asked for
        parent = open_study(setting.home, setting.spec.run.experiment, setting.study.study_name, spec=spec)
        try:
            self._take_over()
            with closing(guarded_follow(state.fleet)) as events:
                for event in events:
                    self._handle(event)
            board = self._close(parent)
        except BaseException as error:
            self._abandon(parent, error)
            raise
        state.fleet.raise_interrupt()
        if state.has_given_up:
            failures = state.failures
            raise SweepError(
                f"study {board.study} gave up: {len(failures)} runs in a row failed, the last: {failures[-1]}"
            )
        return board

    def _take_over(self) -> None:
        """Learn what earlier processes did and spent; end and queue what they left."""
        state, study, home = self.state, self.state.setting.study, self.state.setting.home
        settle_orphans(study, home, lambda trial, result: settle(state, trial, result))
        requeue(study, state.setting.spec.retries, state.setting.only)
        state.past = past_runs(study, home)
        for key, trial in studies.last_attempts(study).items():
            state.purse.meters[key] = read_meter(run_folder(home, key), trial.user_attrs)
        state.show()
        fill(state)

    def _handle(self, event: Event) -> None:
        state = self.state
        if isinstance(event, Lines):
            take_lines(state, event.run, event.entries)
        elif isinstance(event, Ended):
            end_run(state, state.live.pop(event.run), event.run.folder, event.result)
        else:
            self._beat()
            fill(state)
            if not state.fleet.interrupted:
                return
        state.show()

    def _beat(self) -> None:
        state = self.state
        if time.monotonic() - state.beaten < studies.HEARTBEAT_SECONDS:
            return
        state.beaten = time.monotonic()
        for live in state.live.values():
            state.setting.storage.record_heartbeat(live.trial._trial_id)

    def _close(self, parent: Study) -> Board:
        state = self.state
        for upload in state.uploads:
            upload.wait()
        state.winner = winner_of(state.past.values(), state.setting.spec.objective)
        board = state.board
        ending = "cancelled" if state.fleet.interrupted else "failed" if state.has_given_up else "finished"
        trouble = close_study(parent, ending, leaderboard(board), note=self._summary(), metrics=state.purse.metrics())
        if trouble:
            _log.warning("study %s is not closed in MLflow: %s", board.study, trouble)
        if state.setting.only is None:
            is_closed = ending == "finished" and state.refused is None  # with a larger budget it goes on
            state.setting.study.set_user_attr(CLOSED, is_closed)
        state.show()
        return board

    def _summary(self) -> str:
        board = self.state.board
        words = [study_note(board), f"Spent: {self.state.purse.words()}.", board.note]
        return "\n\n".join(word for word in words if word)

    def _abandon(self, parent: Study, error: BaseException) -> None:
        """The loop itself broke: its trainers are gone, MLflow hears of it; a new start settles and continues."""
        state, words = self.state, f"the sweep's process broke off: {type(error).__name__}"
        state.fleet.end_all()  # those that were started before the loop was
        for live in state.live.values():
            live.watch.tracker.close(Ending.CANCELLED.value, words, upload=False)
            if isinstance(error, KeyboardInterrupt):  # else the study may be what broke
                with contextlib.suppress(OptunaError, SQLAlchemyError):
                    tell(state.setting.study, live.trial, Ending.CANCELLED, words)
        close_study(parent, Ending.CANCELLED.value, leaderboard(state.board), note=words)
