"""Which column is the step, which the reward, and what the others are called."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from grpo_ops.errors import CurveError
from grpo_ops.reading.charts import one_run
from grpo_ops.reading.cleaning import Numbers, Table, to_numbers
from grpo_ops.reading.names import REWARD_NAMES, STEP_NAMES, listed, recognised, trl_name


def table_of(columns: Mapping[str, Sequence[Any]], source: str, step: str | None, reward: str | None) -> Table:
    """The columns of a table by their roles; other columns that hold numbers become metrics.

    Raises CurveError for a column that is named but missing, and where no column, or more than one run, is the reward.
    """
    columns, reward = one_run(columns, source, reward)
    reward_column = reward_name(columns, source, reward)
    step_column = named(columns, source, step) if step else recognised(columns, STEP_NAMES)
    rewards = to_numbers(columns[reward_column])
    metrics = _metrics(columns, (reward_column, step_column))
    if step_column is None:
        note = "no step column: rows are counted from 1"
        return Table(np.arange(1.0, len(rewards) + 1), rewards, metrics, notes=(note,))
    return Table(to_numbers(columns[step_column]), rewards, metrics)


def reward_name(names: Iterable[str], source: str, reward: str | None) -> str:
    """The name of the reward column: the one asked for, or the one that is recognised. Raises CurveError without."""
    names = list(names)
    found = named(names, source, reward) if reward else recognised(names, REWARD_NAMES)
    if found is not None:
        return found
    evaluated = recognised(map(trl_name, names), [f"eval_{name}" for name in REWARD_NAMES])
    if evaluated is not None:
        raise CurveError(
            f"{source} has no training reward, only that of evaluations: say reward={evaluated!r} to read those"
        )
    raise CurveError(f"{source} has no reward column; it has {listed(names)}: say which one is the reward")


def named(names: Iterable[str], source: str, name: str) -> str:
    """The column `name`, as the file or as TRL spells it. Raises CurveError where there is none."""
    names = list(names)
    alike = [own for own in names if name in (own, trl_name(own))]
    if not alike:
        raise CurveError(f"{source} has no column {name!r}; it has {listed(names)}")
    return name if name in alike else alike[0]


def _metrics(columns: Mapping[str, Sequence[Any]], taken: Sequence[str | None]) -> dict[str, Numbers]:
    others = {name: cells for name, cells in columns.items() if name and name not in taken}
    return {name if trl_name(name) in columns else trl_name(name): to_numbers(cells) for name, cells in others.items()}
