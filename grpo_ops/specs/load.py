"""Reading specs: TOML in, `--set dotted.key=value` on top, JSON out."""

import json
import tomllib
from pathlib import Path
from typing import Any, TypeVar

from grpo_ops.errors import SpecError
from grpo_ops.specs.base import Spec
from grpo_ops.specs.paths import set_path
from grpo_ops.specs.promotion import PromotionSpec
from grpo_ops.specs.run import RunSpec
from grpo_ops.specs.sweep import SweepSpec

KINDS: dict[str, type[Spec]] = {"run": RunSpec, "sweep": SweepSpec, "promotion": PromotionSpec}
AnySpec = TypeVar("AnySpec", bound=Spec)


def load_spec(kind: type[AnySpec], path: Path, settings: tuple[str, ...] = ()) -> AnySpec:
    """The spec in the TOML (or JSON) file at `path`, with `settings` ("dotted.key=value") put in.

    Raises SpecError that lists every fault.
    """
    return kind.checked(with_settings(read_table(path), settings), str(path))


def read_table(path: Path) -> dict[str, Any]:
    """The file's content; a sweep may name its run by a relative path (`run = "../runs/demo.toml"`)."""
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
    if isinstance(data.get("run"), str):
        data["run"] = read_table(path.parent / data["run"])
    return data


def with_settings(data: dict[str, Any], settings: tuple[str, ...]) -> dict[str, Any]:
    """`data` with each "dotted.key=value" put in; a value is TOML (`1e-4`, `true`, `[1, 2]`), else taken as text."""
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise SpecError("--set", [f"{setting!r} is not dotted.key=value"])
        set_path(data, key.strip(), _toml_value(value.strip()))
    return data


def guess_kind(data: dict[str, Any]) -> type[Spec]:
    """Which spec a table is, by its keys."""
    if "space" in data or "trials" in data:
        return SweepSpec
    return PromotionSpec if "study" in data else RunSpec


def _toml_value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
