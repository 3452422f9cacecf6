"""Reading specs: TOML in, `--set dotted.key=value` on top, JSON out."""

import json
import tomllib
from pathlib import Path
from typing import Any, TypeVar

from grpo_ops.errors import SpecError
from grpo_ops.specs.base import Spec
from grpo_ops.specs.kinds import guess_kind, wrong_kind
from grpo_ops.specs.paths import set_path

AnySpec = TypeVar("AnySpec", bound=Spec)


def load_spec(kind: type[AnySpec], path: Path, settings: tuple[str, ...] = ()) -> AnySpec:
    """The spec in the TOML (or JSON) file at `path`, with `settings` ("dotted.key=value") put in.

    Raises SpecError that lists every fault, or says which kind of spec the file is.
    """
    data = read_table(path)
    other = wrong_kind(data, kind)
    if other is not None:
        raise SpecError(str(path), [other])
    return kind.checked(with_settings(data, settings), str(path))


def load_any(path: Path, settings: tuple[str, ...] = ()) -> Spec:
    """The spec in the file at `path`, of the kind that its keys show. Raises SpecError that lists every fault."""
    data = with_settings(read_table(path), settings)
    return guess_kind(data).checked(data, str(path))


def read_table(path: Path) -> dict[str, Any]:
    """The file's content; a sweep may name its run by a relative path (`run = "../runs/demo.toml"`)."""
    return _read(path, ())


def with_settings(data: dict[str, Any], settings: tuple[str, ...]) -> dict[str, Any]:
    """`data` with each "dotted.key=value" put in; a value is TOML (`1e-4`, `true`, `[1, 2]`), else taken as text."""
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise SpecError("--set", [f"{setting!r} is not dotted.key=value"])
        set_path(data, key.strip(), _toml_value(value.strip()))
    return data


def _read(path: Path, readers: tuple[Path, ...]) -> dict[str, Any]:
    """readers: the files that led here by their `run`, which may not name each other in a circle."""
    if path.resolve() in readers:
        raise SpecError(str(readers[0]), [f"run: {str(path)!r} is read already, and names itself by its own run"])
    data = _parsed(path)
    if isinstance(data.get("run"), str):
        data["run"] = _read(path.parent / data["run"], (*readers, path.resolve()))
    return data


def _parsed(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(str(path), [f"cannot be read: {error}"]) from None
    try:
        data = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except ValueError as error:
        raise SpecError(str(path), [f"is not {path.suffix.lstrip('.').upper() or 'TOML'}: {error}"]) from None
    if not isinstance(data, dict):
        raise SpecError(str(path), ["is not a table of settings"])
    return data


def _toml_value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
