"""Curves from CSV and Parquet: which column is the step, which the reward."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from grpo_ops.errors import CurveError, MissingExtraError
from grpo_ops.reading.cleaning import Table, to_number

STEP_NAMES = ("step", "steps", "global_step", "train/global_step", "trainer/global_step", "_step", "iteration", "iter")
REWARD_NAMES = (
    "reward", "train/reward", "rewards/mean", "train/rewards/mean", "reward/mean", "reward_mean", "mean_reward",
    "rewards", "critic/rewards/mean", "critic/score/mean", "env/reward", "return",
)  # fmt: skip


def read_csv(path: Path, step: str | None, reward: str | None) -> Table:
    """A CSV (or, by its suffix, TSV) with a header line. Raises CurveError where there is no reward column."""
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    with path.open(newline="", encoding="utf-8-sig") as file:
        try:
            header, *rows = [row for row in csv.reader(file, delimiter=separator) if row]
        except (ValueError, csv.Error) as error:
            if isinstance(error, UnicodeDecodeError):
                raise
            raise CurveError(f"{path} holds no table: it must start with a line of column names") from error
    filled = (row + [""] * (len(header) - len(row)) for row in rows)
    columns = zip(*filled, strict=False) if rows else iter([()] * len(header))
    return table_of(dict(zip((name.strip() for name in header), columns, strict=False)), str(path), step, reward)


def read_parquet(path: Path, step: str | None, reward: str | None) -> Table:
    """A Parquet file. Raises MissingExtraError without pyarrow, CurveError where it is broken or has no reward."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("reading Parquet", "cli") from error
    try:
        columns = pyarrow.parquet.read_table(path).to_pydict()
    except pyarrow.ArrowException as error:
        raise CurveError(f"{path} is not a Parquet file; export the curve again, or as CSV") from error
    return table_of(columns, str(path), step, reward)


def table_of(columns: Mapping[str, Sequence[Any]], source: str, step: str | None, reward: str | None) -> Table:
    """The columns of a table by their roles; other columns that hold numbers become metrics."""
    reward_column = reward or _recognised(columns, REWARD_NAMES)
    step_column = step or _recognised(columns, STEP_NAMES)
    for name in (reward_column, step_column):
        if name is not None and name not in columns:
            raise CurveError(f"{source} has no column {name!r}; it has {_listed(columns)}")
    if reward_column is None:
        raise CurveError(f"{source} has no reward column; it has {_listed(columns)}: say which one is the reward")
    rewards = _numbers(columns[reward_column])
    others = {name: _numbers(cells) for name, cells in columns.items() if name not in (reward_column, step_column)}
    metrics = {name: cells for name, cells in others.items() if name and any(cell == cell for cell in cells)}
    if step_column is None:
        note = "no step column: rows are counted from 1"
        return Table(range(1, len(rewards) + 1), rewards, metrics, notes=(note,))
    return Table(_numbers(columns[step_column]), rewards, metrics)


def _recognised(columns: Iterable[str], names: Sequence[str]) -> str | None:
    plain = {re.sub(r"[\s.]+", "/", name.strip().lower()): name for name in reversed(list(columns))}
    return next((plain[name] for name in names if name in plain), None)


def _numbers(cells: Sequence[Any]) -> list[float]:
    return [to_number(cell) for cell in cells]


def _listed(columns: Iterable[str]) -> str:
    names = [repr(name) for name in columns]
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "") or "no columns"
