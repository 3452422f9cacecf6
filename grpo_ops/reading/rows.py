"""A log is a list of lines, each a dictionary: those that carry the reward are the rows of the curve."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from grpo_ops.reading.columns import reward_name
from grpo_ops.reading.names import STEP_NAMES, recognised

Row = Mapping[str, Any]
_WRAPPERS = ("data", "metrics")  # verl's file logger, among others, puts the numbers one level down


def rewarded(rows: Sequence[Row], source: str, reward: str | None) -> tuple[list[Row], str]:
    """The rows that carry the reward (evaluations and the final summary do not), and its name.

    Raises CurveError where there is none.
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    name = reward_name(names, source, reward)
    return [row for row in rows if name in row], name


def columns_of(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The rows as columns, None where a row lacks a value."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def step_name(rows: Sequence[Row]) -> str | None:
    """The name under which every row has its step, None where they have none."""
    every = [name for name in (rows[0] if rows else ()) if all(name in row for row in rows)]
    return recognised(every, STEP_NAMES)


def json_rows(text: str) -> list[Row]:
    """The JSON objects of `text`, one a line, flat; lines that hold none are skipped."""
    lines = [line for line in text.split("\n") if line.lstrip().startswith("{")]
    try:
        rows = json.loads(f"[{','.join(lines)}]")  # one call is three times as fast as one a line
    except (ValueError, RecursionError):
        rows = [row for row in map(json_object, lines) if row is not None]
    return [_flat(row) for row in rows]


def json_object(line: str) -> dict[str, Any] | None:
    """The object in a line, None where it holds none."""
    try:
        row = json.loads(line) if line.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _flat(row: dict[str, Any]) -> Row:
    for wrapper in _WRAPPERS:
        if wrapper in row and isinstance(row[wrapper], dict):
            row = {**row.pop(wrapper), **row}
    return row
