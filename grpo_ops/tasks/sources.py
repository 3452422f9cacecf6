"""Rows from where prompts come from: reasoning-gym, a JSONL or Parquet file, the hub."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from grpo_ops.errors import TaskError
from grpo_ops.specs.data import DataSpec
from grpo_ops.tasks.rows import table_rows, with_system
from grpo_ops.tasks.types import Row

#: The files that come with grpo-ops, by the path that a spec names them with.
SHIPPED = {"starter:gsm": Path(__file__).parent / "data" / "gsm_symbolic.jsonl"}
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


def procedural_rows(dataset: Any, spec: DataSpec) -> Iterator[Row]:
    """Rows of a reasoning-gym dataset: `metadata` is a column."""
    for entry in (dataset[index] for index in range(len(dataset))):
        prompt = with_system(entry["question"], spec.system_prompt)
        yield Row.of(prompt, entry["answer"], {"metadata": entry["metadata"]})


def file_rows(path: str, spec: DataSpec) -> list[Row]:
    """Rows of a JSONL or Parquet file. Raises TaskError where it is missing, broken, or lacks a column."""
    file = _place(path)
    try:
        table = _read_json(file) if spec.source == "jsonl" else _read_parquet(file)
    except (ValueError, OSError) as error:
        raise TaskError(f"{path} cannot be read as {spec.source}: {error}") from error
    return table_rows(table, path, spec)


def hub_rows(split: str, spec: DataSpec) -> list[Row]:
    """Rows of one split of a dataset on the hub. Raises TaskError where it cannot be had."""
    import datasets

    try:
        table = datasets.load_dataset(spec.name, spec.config.get("name"), split=split)
    except Exception as error:  # the hub's client raises nearly anything
        raise TaskError(f"split {split!r} of {spec.name!r} cannot be had from the hub: {error}") from error
    return table_rows(table, f"{spec.name} ({split})", spec)


def _place(path: str) -> Path:
    if path in SHIPPED:
        return SHIPPED[path]
    if path.startswith("starter:"):
        raise TaskError(f"no file {path!r} comes with grpo-ops; known: {', '.join(SHIPPED)}")
    if not Path(path).is_file():
        raise TaskError(f"there is no file {path!r} (paths are relative to {Path.cwd()})")
    return Path(path)


def _read_json(path: Path) -> Iterable[Mapping[str, Any]]:
    import json

    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def _read_parquet(path: Path) -> Iterable[Mapping[str, Any]]:
    import pyarrow.parquet

    return list(pyarrow.parquet.read_table(path).to_pylist())
