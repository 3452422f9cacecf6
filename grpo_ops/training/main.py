"""`python -m grpo_ops.training RUN_FOLDER`: guards first, then one attempt."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from grpo_ops.errors import GrpoOpsError
from grpo_ops.journal import RunFolder
from grpo_ops.training.assignment import Assignment, prepare_environment, read_assignment
from grpo_ops.training.attempt import Attempt
from grpo_ops.training.interruption import Interruption
from grpo_ops.training.launch import become_launcher, is_to_be_launched
from grpo_ops.training.ranks import open_journal


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
    """Train until the run is finished, stopped or failed; say so in journal and result; return the exit code.

    Where the spec wants several ranks, this process becomes their launcher and does not return.
    """
    started = time.monotonic()
    prepare_environment(assignment.spec)
    if is_to_be_launched(folder, assignment.spec.launch):
        become_launcher(folder, assignment.spec.launch)
    with open_journal(folder, assignment.attempt) as journal:
        attempt = Attempt(folder, assignment, journal, Interruption(assignment.supervisor))
        outcome = attempt.run()
        attempt.close(outcome, started)
    return 1 if outcome.reason == "failed" else 0
