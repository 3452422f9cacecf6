"""One attempt at one run, from RUN/spec.json to RUN/result.json. What is heavy is imported after the first guards."""

import contextlib
import os
import sys
import time
import traceback
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from grpo_ops.errors import GrpoOpsError
from grpo_ops.journal import Journal, RunFolder
from grpo_ops.training.assignment import Assignment, prepare_environment, read_assignment
from grpo_ops.training.ending import Outcome, ended, failure, write_result
from grpo_ops.training.history import History, read_history
from grpo_ops.training.interruption import Interruption, Preempted
from grpo_ops.training.keeper import clear_leftovers
from grpo_ops.training.progress import Progress

PACKAGES = ("grpo-ops", "torch", "transformers", "trl", "peft")


def main(arguments: Sequence[str]) -> int:
    """Exit code 0 for a run that finished or was stopped, 1 for one that failed, 2 for a folder that is no run."""
    if len(arguments) != 2:
        print("usage: python -m grpo_ops.training RUN_FOLDER", file=sys.stderr)
        return 2
    folder = RunFolder(Path(arguments[1]).absolute())
    try:
        assignment = read_assignment(folder)
    except GrpoOpsError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    return run(folder, assignment)


def run(folder: RunFolder, assignment: Assignment) -> int:
    """Train until the run is finished, stopped or failed; say so in journal and result; return the exit code."""
    started = time.monotonic()
    interruption = Interruption(assignment.supervisor)
    interruption.install()
    prepare_environment(assignment.spec)
    history = read_history(folder)
    progress = Progress.after(history)
    with Journal(folder.journal, assignment.attempt) as journal:
        outcome = _outcome(folder, assignment, journal, history, progress, interruption)
        if _is_first_rank():
            with contextlib.suppress(OSError):  # a full disk: the exit code still says that it failed
                journal.append("end", reason=outcome.reason, message=outcome.message)
                write_result(folder, assignment, progress, outcome, started)
    return 1 if outcome.reason == "failed" else 0


def _outcome(
    folder: RunFolder,
    assignment: Assignment,
    journal: Journal,
    history: History,
    progress: Progress,
    interruption: Interruption,
) -> Outcome:
    try:
        _say_start(journal, assignment, history)
        clear_leftovers(folder, history)
        _train(folder, assignment, journal, history, progress, interruption)
    except Preempted:
        progress.stop = folder.stop_request() or interruption.request()
    except Exception as error:
        traceback.print_exc()
        return failure(error)
    return ended(progress)


def _train(
    folder: RunFolder,
    assignment: Assignment,
    journal: Journal,
    history: History,
    progress: Progress,
    interruption: Interruption,
) -> None:
    from grpo_ops.training.build import build
    from grpo_ops.training.callback import NothingToDo, RunCallback

    bench = build(folder, assignment)
    callback = RunCallback(folder, assignment.spec, journal, bench, history, interruption, progress)
    bench.trainer.add_callback(callback)
    checkpoint = str(folder.path / history.resume.path) if history.resume else None
    with contextlib.suppress(NothingToDo):
        bench.trainer.train(resume_from_checkpoint=checkpoint)


def _say_start(journal: Journal, assignment: Assignment, history: History) -> None:
    versions: dict[str, Any] = {name: version(name) for name in PACKAGES}
    journal.append(
        "start",
        pid=os.getpid(),
        max_steps=assignment.spec.grpo.max_steps,
        resumed_from=history.step if history.resume else None,
        versions=versions,
    )
    for path in history.damaged:
        journal.append("warning", message=f"{path} is not what the journal says (incomplete or altered): not used")


def _is_first_rank() -> bool:
    return os.environ.get("RANK", "0") == "0"
