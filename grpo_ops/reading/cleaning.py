"""From the columns of a file to a curve: rows in order, one a step, finite rewards, and notes on what that took."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grpo_ops.curve import RewardCurve
from grpo_ops.errors import CurveError
from grpo_ops.reading.notes import counted, curve_notes

Numbers = NDArray[np.float64]
_LARGEST_STEP = 2.0**53  # above it a float no longer tells neighbouring whole numbers apart


@dataclass(frozen=True, slots=True)
class Table:
    """Columns as a file has them: numbers, NaN where there is none.

    window: over how many steps one point is a mean, where the file says it. notes: what the reader had to say.
    """

    steps: Numbers
    rewards: Numbers
    metrics: Mapping[str, Numbers] = field(default_factory=dict)
    max_steps: int | None = None
    window: int | None = None
    notes: tuple[str, ...] = ()


def cleaned(table: Table, source: str) -> tuple[RewardCurve, tuple[str, ...]]:
    """The curve of `table`, and its notes. Raises CurveError where no row has a step and a finite reward."""
    rows = np.flatnonzero(_are_steps(table.steps))
    finite = rows[np.isfinite(table.rewards[rows])]
    if not len(finite):
        raise CurveError(f"{source} has no row with a whole step and a finite reward: it is not a reward curve")
    kept = _last_of_each_step(table, finite)
    curve = RewardCurve(
        tuple(table.steps[kept].astype(np.int64).tolist()),
        tuple(table.rewards[kept].tolist()),
        table.max_steps,
        _metrics(table, kept),
    )
    notes = (*table.notes, *_dropped(table, rows, finite), *_moved(table, finite))
    logged = np.unique(table.steps[rows]).astype(np.int64).tolist()
    return curve, (*notes, *curve_notes(curve, logged, table.window))


def to_numbers(cells: Sequence[Any]) -> Numbers:
    """A column of numbers from a column of cells; NaN for a cell that is none."""
    if isinstance(cells, np.ndarray):
        return cells.astype(np.float64)
    try:
        return np.fromiter(map(float, cells), np.float64, len(cells))
    except (TypeError, ValueError, OverflowError):  # one cell at least is no number: the slow way
        return np.fromiter(map(to_number, cells), np.float64, len(cells))


def to_number(cell: Any) -> float:
    """A number from a cell; NaN for what is none."""
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _are_steps(steps: Numbers) -> NDArray[np.bool_]:
    are_steps: NDArray[np.bool_] = (steps >= 0) & (steps < _LARGEST_STEP) & (steps == np.floor(steps))
    return are_steps


def _last_of_each_step(table: Table, finite: NDArray[np.intp]) -> NDArray[np.intp]:
    """The rows that count, in the order of their steps."""
    ordered = finite[np.argsort(table.steps[finite], kind="stable")]
    steps = table.steps[ordered]
    last: NDArray[np.intp] = ordered[np.append(steps[1:] != steps[:-1], True)]
    return last


def _metrics(table: Table, kept: NDArray[np.intp]) -> dict[str, tuple[float, ...]]:
    columns = {name: column[kept] for name, column in table.metrics.items()}
    return {name: tuple(column.tolist()) for name, column in columns.items() if not np.all(np.isnan(column))}


def _dropped(table: Table, rows: NDArray[np.intp], finite: NDArray[np.intp]) -> list[str]:
    notes = []
    if len(rows) < len(table.steps):
        notes.append(f"{counted(len(table.steps) - len(rows), 'row')} without a whole step left out")
    if len(finite) < len(rows):
        first = int(table.steps[rows[~np.isfinite(table.rewards[rows])][0]])
        lost = counted(len(rows) - len(finite), "row")
        notes.append(f"{lost} without a finite reward left out, first at step {first}")
    return notes


def _moved(table: Table, finite: NDArray[np.intp]) -> list[str]:
    notes = []
    _, first_seen = np.unique(table.steps[finite], return_index=True)
    if len(first_seen) < len(finite):
        repeated = counted(len(finite) - len(first_seen), "repeated step")
        notes.append(f"{repeated}: the last value counts (a resumed run)")
    if np.any(np.diff(first_seen) < 0):
        notes.append("the rows were not in the order of their steps and have been sorted")
    return notes
