"""Rows from where prompts come from: reasoning-gym, a JSONL or Parquet file, the hub."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from grpo_ops.errors import TaskError
from grpo_ops.specs import TaskSpec
from grpo_ops.tasks.types import Prompt, Row

#: A generator is asked for so many more prompts than are needed: most repeat themselves.
OVERSAMPLING = 4


def procedural(name: str, config: Mapping[str, Any], size: int, seed: int) -> Any:
    """A reasoning-gym dataset. Raises TaskError for a name or a config that it does not know."""
    import reasoning_gym

    known = reasoning_gym.factory.DATASETS
    if name not in known:
        raise TaskError(f"reasoning-gym has no dataset {name!r}; it has {', '.join(sorted(known))}")
    try:
        return reasoning_gym.create_dataset(name, size=size, seed=seed, **config)
    except (TypeError, ValueError, AssertionError) as error:
        raise TaskError(f"reasoning-gym's {name!r} does not take {dict(config)!r}: {error}") from error


def procedural_rows(dataset: Any, spec: TaskSpec) -> Iterator[Row]:
    """Rows of a reasoning-gym dataset: `metadata` is a column."""
    for entry in (dataset[index] for index in range(len(dataset))):
        yield Row.of(_with_system(entry["question"], spec), entry["answer"], {"metadata": entry["metadata"]})


def file_rows(path: str, spec: TaskSpec) -> list[Row]:
    """Rows of a JSONL or Parquet file. Raises TaskError where it is missing, broken, or lacks a column."""
    if not Path(path).is_file():
        raise TaskError(f"there is no file {path!r} (paths are relative to {Path.cwd()})")
    try:
        table = _read_json(path) if spec.source == "jsonl" else _read_parquet(path)
    except (ValueError, OSError) as error:
        raise TaskError(f"{path} cannot be read as {spec.source}: {error}") from error
    return _table_rows(table, path, spec)


def hub_rows(split: str, spec: TaskSpec) -> list[Row]:
    """Rows of one split of a dataset on the hub. Raises TaskError where it cannot be had."""
    import datasets

    try:
        table = datasets.load_dataset(spec.name, spec.config.get("name"), split=split)
    except Exception as error:  # the hub's client raises nearly anything
        raise TaskError(f"split {split!r} of {spec.name!r} cannot be had from the hub: {error}") from error
    return _table_rows(table, f"{spec.name} ({split})", spec)


def _read_json(path: str) -> Iterable[Mapping[str, Any]]:
    import json

    with Path(path).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def _read_parquet(path: str) -> Iterable[Mapping[str, Any]]:
    import pyarrow.parquet

    return list(pyarrow.parquet.read_table(path).to_pylist())


def _table_rows(table: Iterable[Mapping[str, Any]], source: str, spec: TaskSpec) -> list[Row]:
    rows = [_row(number, record, source, spec) for number, record in enumerate(table, start=1)]
    names = sorted({name for row in rows for name in row.columns})
    return [Row(row.id, row.prompt, row.answer, {name: row.columns.get(name) for name in names}) for row in rows]


def _row(number: int, record: Mapping[str, Any], source: str, spec: TaskSpec) -> Row:
    wanted = (spec.prompt_column, spec.answer_column)
    missing = [name for name in wanted if not isinstance(record, Mapping) or record.get(name) is None]
    if missing:
        found = ", ".join(record) if isinstance(record, Mapping) else repr(record)[:80]
        raise TaskError(f"{source}, row {number}: no {missing[0]!r}; it has {found}")
    others = {name: value for name, value in record.items() if name not in wanted}
    return Row.of(_with_system(record[spec.prompt_column], spec), str(record[spec.answer_column]), others)


def _with_system(prompt: Prompt, spec: TaskSpec) -> Prompt:
    if spec.system_prompt is None or not isinstance(prompt, str):
        return prompt
    return [{"role": "system", "content": spec.system_prompt}, {"role": "user", "content": prompt}]
