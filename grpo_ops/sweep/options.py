"""Settings from a spec as arguments of an Optuna class: what it does not take is said before anything is run."""

import inspect
import warnings
from collections.abc import Mapping
from typing import Any, TypeVar

from optuna.exceptions import ExperimentalWarning

from grpo_ops.errors import SweepError

Made = TypeVar("Made")
_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,), "float": (int, float), "bool": (bool,), "str": (str,), "None": (type(None),),
}  # fmt: skip


def made(kind: type[Made], options: Mapping[str, Any], where: str, defaults: Mapping[str, Any] | None = None) -> Made:
    """`kind(**options)`, with those `defaults` that it takes and that are not among the options.

    Raises SweepError, in one sentence that begins with `where`, for what it does not take, lacks or refuses.
    """
    takes = inspect.signature(kind).parameters
    for name, value in options.items():
        _check(name, value, kind, takes, where)
    known = {name: value for name, value in (defaults or {}).items() if name in takes} | dict(options)
    lacking = [name for name, it in takes.items() if it.default is it.empty and name not in known]
    if lacking:
        raise SweepError(f"{where}: {kind.__name__} needs {' and '.join(lacking)}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)  # who names it means it
            return kind(**known)
    except (TypeError, ValueError) as error:
        raise SweepError(f"{where}: {kind.__name__} refuses {dict(options)}: {error}") from error


def _check(name: str, value: Any, kind: type, takes: Mapping[str, inspect.Parameter], where: str) -> None:
    if name not in takes:
        raise SweepError(f"{where}.{name}: {kind.__name__} has no such option; it takes {', '.join(takes)}")
    words = str(takes[name].annotation).replace("<class '", "").replace("'>", "").split(" | ")
    if not all(word in _KINDS for word in words):
        return
    kinds = tuple(kind for word in words for kind in _KINDS[word])
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise SweepError(f"{where}.{name}: {value!r} is no {' or '.join(words)}")
