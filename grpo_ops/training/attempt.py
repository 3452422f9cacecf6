"""One attempt at one run, from its history to its result. What is heavy is imported once there is something to do."""

import contextlib
import os
import traceback
from dataclasses import dataclass, field
from importlib.metadata import version

from grpo_ops.journal import Journal, RunFolder
from grpo_ops.training.assignment import Assignment
from grpo_ops.training.ending import Outcome, ended, failure, write_result
from grpo_ops.training.history import History, read_history
from grpo_ops.training.interruption import Interruption, Preempted
from grpo_ops.training.keeper import clear_leftovers
from grpo_ops.training.progress import Progress
from grpo_ops.training.ranks import failure_elsewhere, is_first_rank, is_left_alone, say_failure

PACKAGES = ("grpo-ops", "torch", "transformers", "trl", "peft")


@dataclass
class Attempt:
    """One start of the trainer on one folder. `progress` is kept up to date, whatever happens."""

    folder: RunFolder
    assignment: Assignment
    journal: Journal
    interruption: Interruption
    progress: Progress = field(default_factory=Progress)

    def run(self) -> Outcome:
        """Train; every way to end is an outcome."""
        try:
            self.interruption.install()
            self._train()
        except Preempted:
            elsewhere = self._failed_elsewhere()
            if elsewhere is not None:
                return elsewhere
            self.progress.stop = self.folder.stop_request() or self.interruption.request()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is how the run ended
            traceback.print_exc()
            return self._failed(error)
        return ended(self.progress)

    def close(self, outcome: Outcome, started: float) -> None:
        """Write the last journal line and the result. On a full disk neither: the exit code still tells."""
        self.interruption.over()
        with contextlib.suppress(OSError):
            if is_first_rank():
                self.journal.append("end", reason=outcome.reason, message=outcome.message)
                write_result(self.folder, self.assignment, self.progress, outcome, started)
            elif outcome.reason == "failed":
                say_failure(self.folder, self.assignment.attempt, outcome.message)

    def _failed(self, error: Exception) -> Outcome:
        own = failure(error)
        return (self._failed_elsewhere() if is_left_alone(own.message) else None) or own

    def _failed_elsewhere(self) -> Outcome | None:
        """A launcher ends all ranks when one fails: what that one said is the reason."""
        message = failure_elsewhere(self.folder, self.assignment.attempt) if is_first_rank() else None
        return None if message is None else Outcome("failed", message)

    def _train(self) -> None:
        history = read_history(self.folder)
        self.progress.resume(history)
        self._say_start(history)
        if is_first_rank():
            clear_leftovers(self.folder, history)
        from grpo_ops.training.build import build
        from grpo_ops.training.callback import NothingToDo, RunCallback

        bench = build(self.folder, self.assignment)
        for note in bench.notes:
            self.journal.append("warning", message=note)
        bench.trainer.add_callback(
            RunCallback(
                self.folder, self.assignment.spec, self.journal, bench, history, self.interruption, self.progress
            )
        )
        checkpoint = str(self.folder.path / history.resume.path) if history.resume else None
        with contextlib.suppress(NothingToDo):
            bench.trainer.train(resume_from_checkpoint=checkpoint)

    def _say_start(self, history: History) -> None:
        self.journal.append(
            "start",
            pid=os.getpid(),
            max_steps=self.assignment.spec.grpo.max_steps,
            resumed_from=history.step if history.resume else None,
            versions={name: version(name) for name in PACKAGES},
        )
        for path in history.damaged:
            message = f"{path} is not what the journal says (incomplete or altered): not used"
            self.journal.append("warning", message=message)
