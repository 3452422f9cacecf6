"""Held-out evaluations as recorded: each prompt's outcome, from a table with the column `passed_by_prompt`."""

import csv
from pathlib import Path

from grpo_ops.curve import Evaluation
from grpo_ops.errors import CurveError

_COLUMN = "passed_by_prompt"


def read_outcomes(path: Path, digest: str) -> tuple[Evaluation, ...]:
    """The evaluations of a table `step,mean,passed_by_prompt`, in which the last is a string of 0 and 1, one a prompt.

    digest: names the prompts, which all trials of a sweep share. A row without outcomes is left out.
    A table that is no CSV file has none. Raises CurveError for outcomes other than 0 and 1, and for a step that is no
    number.
    """
    if path.suffix != ".csv":
        return ()
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (csv.Error, ValueError, OSError) as error:
        raise CurveError(f"{path} cannot be read: {error}") from error
    return tuple(_evaluation(path, row.get("step"), row[_COLUMN], digest) for row in rows if row.get(_COLUMN))


def _evaluation(path: Path, step: str | None, passed: str, digest: str) -> Evaluation:
    if set(passed) - {"0", "1"}:
        raise CurveError(f"{path}: {_COLUMN} at step {step} must be a 0 or 1 for each prompt but is {passed!r}")
    try:
        number = int(float(step or ""))
    except (ValueError, OverflowError) as error:
        raise CurveError(f"{path}: step must be a number but is {step!r}") from error
    prompts = tuple(str(place) for place in range(len(passed)))
    return Evaluation(number, tuple(float(outcome) for outcome in passed), prompts, f"{digest}, {len(passed)} prompts")
