"""Dotted paths into nested tables: `grpo.learning_rate`, `rewards.0.weight`, `space."grpo.learning_rate".low`."""

import tomllib
from typing import Any

from grpo_ops.errors import SpecError


def set_path(data: dict[str, Any], path: str, value: Any) -> None:
    """Put `value` at `path`, making tables on the way. Raises SpecError where the path runs into a plain value."""
    *parents, last = split_path(path)
    place: Any = data
    for part in parents:
        place = _step_into(place, part, path)
    if isinstance(place, list):
        place[_index(place, last, path)] = value
    elif isinstance(place, dict):
        place[last] = value
    else:
        raise SpecError(path, [f"{path}: {'.'.join(parents)} is no table"])


def split_path(path: str) -> list[str]:
    """The parts of a dotted path; a part in quotes, as in TOML, may hold dots. Raises SpecError for an empty part."""
    parts = _quoted_parts(path) if '"' in path or "'" in path else path.split(".")
    if not all(parts):
        raise SpecError(path, [f"{path!r} is no dotted path: a part of it is empty or its quotes are not closed"])
    return parts


def _quoted_parts(path: str) -> list[str]:
    try:
        table: Any = tomllib.loads(f"{path.strip()} = 0")
    except tomllib.TOMLDecodeError:
        return [""]
    parts = []
    while isinstance(table, dict) and len(table) == 1:
        ((part, table),) = table.items()
        parts.append(part)
    return parts if table == 0 else [""]


def _step_into(place: Any, part: str, path: str) -> Any:
    if isinstance(place, list):
        return place[_index(place, part, path)]
    if not isinstance(place, dict):
        raise SpecError(path, [f"{path}: there is no table on the way at {part!r}"])
    if place.get(part) is None:
        place[part] = {}
    return place[part]


def _index(place: list[Any], part: str, path: str) -> int:
    if not part.isdigit() or int(part) >= len(place):
        raise SpecError(path, [f"{path}: {part!r} is no position in a list of {len(place)}"])
    return int(part)
