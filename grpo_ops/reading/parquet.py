"""Columns from Parquet files; pyarrow is imported on use."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grpo_ops.errors import CurveError, MissingExtraError
from grpo_ops.reading.cleaning import Table
from grpo_ops.reading.columns import table_of


def read_parquet(path: Path, step: str | None, reward: str | None) -> Table:
    """A Parquet file. Raises MissingExtraError without pyarrow, CurveError where it is broken or has no reward."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("reading Parquet", "cli") from error
    try:
        table = pyarrow.parquet.ParquetFile(path).read()
        columns = {name: _cells(table.column(index)) for index, name in enumerate(table.column_names)}
    except (pyarrow.ArrowException, UnicodeDecodeError, OSError) as error:
        raise CurveError(f"{path} is not a Parquet file; export the curve again, or as CSV") from error
    return table_of(columns, str(path), step, reward)


def _cells(column: Any) -> Sequence[Any]:
    """Numbers as an array (null is NaN), what may spell a number as it is, and nothing of lists, times and the like."""
    import pyarrow.types as kinds

    kind = column.type
    if kinds.is_integer(kind) or kinds.is_floating(kind):
        numbers: Sequence[Any] = column.to_numpy()
        return numbers
    spelled = (kinds.is_string, kinds.is_large_string, kinds.is_decimal, kinds.is_boolean, kinds.is_dictionary)
    cells: Sequence[Any] = column.to_pylist() if any(is_kind(kind) for is_kind in spelled) else [None] * len(column)
    return cells
