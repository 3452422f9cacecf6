"""Reward functions by name: registered entry points, or an import path where that is allowed."""

import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from grpo_ops.errors import TaskError
from grpo_ops.specs import RewardSpec
from grpo_ops.tasks.guard import Reward
from grpo_ops.tasks.types import Task

GROUP = "grpo_ops.rewards"


def load_rewards(specs: Sequence[RewardSpec], task: Task, *, allow_import_paths: bool) -> list[Reward]:
    """The rewards that `specs` name, guarded and with their weights.

    allow_import_paths: whether `package.module:function` may be named. Naming one is running code, so only a spec
    from a local file may. Raises TaskError for a name that is unknown, not allowed, or not importable.
    """
    return [_reward(spec, task, allow_import_paths) for spec in specs]


def known_rewards() -> list[str]:
    """Names of the registered rewards."""
    return sorted(_registered())


def _reward(spec: RewardSpec, task: Task, allow_import_paths: bool) -> Reward:
    function = _imported(spec.name, allow_import_paths) if spec.is_import_path else _by_name(spec.name)
    given = {"task": task} if "task" in _parameters(function) else {}
    return Reward(function, spec.logged_as, spec.weight, {**given, **spec.config})


def _by_name(name: str) -> Callable[..., Any]:
    registered = _registered()
    if name not in registered:
        raise TaskError(
            f"there is no reward {name!r}; known: {', '.join(sorted(registered))}, "
            "and package.module:function from a local spec file"
        )
    return _loaded(registered[name])


def _imported(path: str, allowed: bool) -> Callable[..., Any]:
    if not allowed:
        raise TaskError(f"the reward {path!r} is an import path, which only a local spec file may name")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    return _loaded(EntryPoint(path, path, GROUP))


def _loaded(entry: EntryPoint) -> Callable[..., Any]:
    try:
        function = entry.load()
    except Exception as error:  # importing runs code of others
        raise TaskError(f"the reward {entry.value!r} cannot be imported: {type(error).__name__}: {error}") from error
    if not callable(function):
        raise TaskError(f"the reward {entry.value!r} is a {type(function).__name__}, not a function")
    return function  # type: ignore[no-any-return]


@cache
def _registered() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _parameters(function: Callable[..., Any]) -> Sequence[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # a callable of C has no signature
        return []
