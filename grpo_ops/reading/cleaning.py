"""From the columns of a file to a curve: rows in order, one a step, finite rewards, and notes on what that took."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from grpo_ops.curve import RewardCurve
from grpo_ops.errors import CurveError

_LONG_GAP = 2  # in units of the usual distance of two steps


@dataclass(frozen=True, slots=True)
class Table:
    """Columns as a file has them: numbers, NaN where there is none. `notes`: what the reader had to say."""

    steps: Sequence[float]
    rewards: Sequence[float]
    metrics: Mapping[str, Sequence[float]] = field(default_factory=dict)
    max_steps: int | None = None
    notes: tuple[str, ...] = ()


def cleaned(table: Table, source: str) -> tuple[RewardCurve, tuple[str, ...]]:
    """The curve of `table`, and its notes. Raises CurveError where no row has a step and a finite reward."""
    rows = [row for row, step in enumerate(table.steps) if _is_step(step)]
    finite = [row for row in rows if math.isfinite(table.rewards[row])]
    if not finite:
        raise CurveError(f"{source} has no row with a whole step and a finite reward: it is not a reward curve")
    last = {int(table.steps[row]): row for row in finite}
    kept = [last[step] for step in sorted(last)]
    curve = RewardCurve(
        tuple(int(table.steps[row]) for row in kept),
        tuple(float(table.rewards[row]) for row in kept),
        table.max_steps,
        {name: tuple(float(column[row]) for row in kept) for name, column in table.metrics.items()},
    )
    return curve, (*table.notes, *_dropped(table, rows, finite), *_moved(table, finite, last), *gap_notes(curve))


def gap_notes(curve: RewardCurve) -> list[str]:
    """One note on steps that are missing, if there are: the law reads them as missing, not as zero."""
    longest = _LONG_GAP * curve.spacing
    gaps = [(b - a, a, b) for a, b in pairwise(curve.steps) if b - a >= longest]
    if not gaps:
        return []
    _, start, end = max(gaps)
    return [f"{_counted(len(gaps), 'gap')} in the steps, the longest from {start} to {end}"]


def to_number(value: object) -> float:
    """A number from a cell; NaN for what is none."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan


def _is_step(step: float) -> bool:
    return math.isfinite(step) and step >= 0 and step == int(step)


def _dropped(table: Table, rows: list[int], finite: list[int]) -> list[str]:
    notes = []
    if len(rows) < len(table.steps):
        notes.append(f"{_counted(len(table.steps) - len(rows), 'row')} without a whole step left out")
    if len(finite) < len(rows):
        first = next(int(table.steps[row]) for row in rows if not math.isfinite(table.rewards[row]))
        notes.append(
            f"{_counted(len(rows) - len(finite), 'row')} without a finite reward left out, first at step {first}"
        )
    return notes


def _moved(table: Table, finite: list[int], last: dict[int, int]) -> list[str]:
    notes = []
    if len(last) < len(finite):
        notes.append(f"{_counted(len(finite) - len(last), 'repeated step')}: the last value counts (a resumed run)")
    first_seen = list(dict.fromkeys(int(table.steps[row]) for row in finite))
    if any(b < a for a, b in pairwise(first_seen)):
        notes.append("the rows were not in the order of their steps and have been sorted")
    return notes


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count > 1 else ''}"
