"""The kinds of specs, and which of them a table is meant to be."""

import difflib
from collections.abc import Iterable
from typing import Any

from grpo_ops.specs.base import Spec
from grpo_ops.specs.promotion import PromotionSpec
from grpo_ops.specs.run import RunSpec
from grpo_ops.specs.sweep import SweepSpec

KINDS: dict[str, type[Spec]] = {"run": RunSpec, "sweep": SweepSpec, "promotion": PromotionSpec}
_COMMANDS = {RunSpec: "train", SweepSpec: "sweep", PromotionSpec: "promote"}


def guess_kind(data: dict[str, Any]) -> type[Spec]:
    """Which spec a table is, by its keys: the kind that knows most of them, and of equals the one that lacks least."""
    return max(KINDS.values(), key=lambda kind: (_known(kind, data), -_missing(kind, data)))


def wrong_kind(data: dict[str, Any], wanted: type[Spec]) -> str | None:
    """A sentence where the table is clearly another kind of spec than `wanted`, else None."""
    guessed = guess_kind(data)
    if guessed is wanted or _known(guessed, data) <= _known(wanted, data):
        return None
    return f"this is a {guessed.__name__}, not a {wanted.__name__}; use `grpo-ops {_COMMANDS[guessed]}`"


def _known(kind: type[Spec], keys: Iterable[str]) -> float:
    """How many of the keys the kind knows; a misspelt one counts half."""
    names = list(kind.model_fields)
    return sum(1.0 if key in names else 0.5 * bool(difflib.get_close_matches(key, names, 1, 0.75)) for key in keys)


def _missing(kind: type[Spec], keys: Iterable[str]) -> int:
    return sum(field.is_required() and name not in keys for name, field in kind.model_fields.items())
