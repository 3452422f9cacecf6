"""Reward functions by name: registered entry points, or an import path where that is allowed."""

import importlib
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from grpo_ops.errors import TaskError
from grpo_ops.specs import RewardSpec
from grpo_ops.tasks.guard import Reward, Tally
from grpo_ops.tasks.messages import Setup
from grpo_ops.tasks.types import Task
from grpo_ops.tasks.worker import Worker

GROUP = "grpo_ops.rewards"
DEFAULT_SECONDS = 60.0
_OWN = "grpo_ops.tasks.rewards:"
#: They do not block, or (the last) need a second and a half of CPU time in every process that imports their scorers.
_QUICK = frozenset(_OWN + name for name in ("exact_match", "length_reward", "reasoning_gym_reward"))


def load_rewards(specs: Sequence[RewardSpec], task: Task, *, allow_import_paths: bool) -> list[Reward]:
    """The rewards that `specs` name, guarded and with their weights. No worker process is started before it is needed.

    allow_import_paths: whether `package.module:function` may be named. Naming one is running code, so only a spec
    from a local file may. Raises TaskError for a name that is unknown, not allowed, or not importable, and for a log
    name that two rewards share.
    """
    shared = [name for name, count in Counter(spec.logged_as for spec in specs).items() if count > 1]
    if shared:
        raise TaskError(f"several rewards would be logged as {shared[0]!r}; give each its own log_name")
    tally = Tally(len(specs))
    return [_reward(spec, task, allow_import_paths, tally) for spec in specs]


def known_rewards() -> list[str]:
    """Names of the registered rewards."""
    return sorted(_registered())


def find_reward(name: str, *, allow_import_paths: bool) -> Callable[..., Any]:
    """The function of a registered name or an import path. Raises TaskError as load_rewards does."""
    return _imported(name, allow_import_paths) if ":" in name else _by_name(name)


def given_to(function: Callable[..., Any], task: Task | None) -> dict[str, Any]:
    """What a reward function is given besides its config: the task, where it has a parameter of that name."""
    return {"task": task} if "task" in _parameters(function) else {}


def _reward(spec: RewardSpec, task: Task, allow_import_paths: bool, tally: Tally) -> Reward:
    function = find_reward(spec.name, allow_import_paths=allow_import_paths)
    given, path = given_to(function, task), spec.name if spec.is_import_path else _registered()[spec.name].value
    seconds = _limit(spec, path)
    setup = Setup(spec.name, spec.logged_as, spec.config, task if given else None)
    is_own = path.startswith(_OWN)
    one_by_one = is_own if spec.one_by_one is None else spec.one_by_one
    return Reward(
        function,
        spec.logged_as,
        spec.weight,
        {**given, **spec.config},
        eval_weight=spec.eval_weight,
        source=path,
        worker=Worker(setup, seconds, one_by_one=one_by_one) if seconds else None,
        tally=tally,
    )


def _limit(spec: RewardSpec, path: str) -> float:
    """Seconds a call may take, 0 for no limit."""
    if spec.timeout_seconds is not None:
        return spec.timeout_seconds
    return 0.0 if path in _QUICK else DEFAULT_SECONDS


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
