"""A spec as MLflow params: flat, short, under dotted names."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grpo_ops.tracking.names import clean_name, cut

#: Longest param value. MLflow would take 6000; a table column does not. The whole spec is an artifact.
VALUE_LENGTH = 250


def flat_params(spec: Mapping[str, Any]) -> dict[str, str]:
    """`{"grpo": {"learning_rate": 1e-4}}` becomes `{"grpo.learning_rate": "0.0001"}`; empty tables are left out."""
    return {clean_name(name): cut(value, VALUE_LENGTH) for name, value in _leaves("", spec)}


def changed_params(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Params that MLflow has with another value, as name to (there, here): it never lets a param change."""
    return {name: (old[name], value) for name, value in new.items() if name in old and old[name] != value}


def _leaves(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, child in value.items():
            yield from _leaves(f"{path}.{key}" if path else str(key), child)
    elif _is_list_of_tables(value):
        for index, child in enumerate(value):
            yield from _leaves(f"{path}.{index}", child)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        if value:
            yield path, json.dumps(list(value))
    else:
        yield path, str(value)


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and isinstance(value[0], Mapping)
