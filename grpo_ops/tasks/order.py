"""A curriculum: training prompts sorted by a number that their source gives them."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grpo_ops.errors import TaskError
from grpo_ops.tasks.types import Row, Task


def in_curriculum(task: Task, column: str) -> Task:
    """The task with its training rows sorted by `column`, lowest first; rows with the same number keep their order.

    `a.b` is the value b in the column a. Raises TaskError where a row has no number there.
    """
    return replace(task, train=tuple(sorted(task.train, key=lambda row: _number(row, column))))


def _number(row: Row, column: str) -> float:
    value = _value(row.columns, column)
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        known = ", ".join(sorted(row.columns)) or "none"
        raise TaskError(
            f"curriculum_column = {column!r} needs a number in every training row, but the row of the prompt "
            f"{str(row.prompt)[:80]!r} has {value!r:.40} there (its columns: {known})"
        )
    return value


def _value(columns: Any, path: str) -> Any:
    if not isinstance(columns, Mapping):
        return None
    if path in columns:
        return columns[path]
    first, _, rest = path.partition(".")
    return _value(columns.get(first), rest) if rest else None
