"""RUN/result.json, written last: how the trainer ended."""

import json
import time
from dataclasses import dataclass

from grpo_ops.journal import RunFolder, write_atomically
from grpo_ops.training.assignment import Assignment
from grpo_ops.training.progress import Progress


@dataclass(frozen=True, slots=True)
class Outcome:
    """reason: finished, stopped or failed; message: what a person reads."""

    reason: str
    message: str


def failure(error: BaseException) -> Outcome:
    """`ExceptionClass: last line` of what was raised."""
    lines = str(error).strip().splitlines()
    return Outcome("failed", f"{type(error).__name__}: {lines[-1].strip() if lines else 'it said nothing'}")


def ended(progress: Progress) -> Outcome:
    """The outcome of a training that ended without an exception."""
    if progress.stop is None:
        return Outcome("finished", f"all {progress.step} steps done")
    return Outcome("stopped", f"{progress.stop['reason']}: {progress.stop.get('message', '')}")


def write_result(
    folder: RunFolder, assignment: Assignment, progress: Progress, outcome: Outcome, started: float
) -> None:
    """Write RUN/result.json in one piece. started: time.monotonic() of the trainer's start."""
    result = {
        "run_key": assignment.run_key,
        "attempt": assignment.attempt,
        "reason": outcome.reason,
        "stop": progress.stop,
        "message": outcome.message,
        "step": progress.step,
        "last_checkpoint": progress.last.record() if progress.last else None,
        "best": progress.best.record() if progress.best else None,
        "seconds": round(time.monotonic() - started, 3),
    }
    write_atomically(folder.result, json.dumps(result, indent=1))
