"""What a trainer and the worker process of a reward send each other."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TypeAlias

from grpo_ops.tasks.types import Task

#: Name of a function of TRL's that a reward called, and the arguments.
Call: TypeAlias = tuple[str, tuple[Any, ...], dict[str, Any]]
_LOGS = ("log_metric", "log_extra")


@dataclass(frozen=True)
class Setup:
    """What a worker process calls. path: as a spec names it, `package.module:function` or a registered name."""

    path: str
    name: str
    config: Mapping[str, Any]
    task: Task | None = None


def sendable(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns as another process can have them.

    Of the trainer's state its plain values; of TRL's functions for logging only that they are there.
    """
    sent = {name: None if name in _LOGS else value for name, value in columns.items()}
    if (state := sent.get("trainer_state")) is not None:
        sent["trainer_state"] = SimpleNamespace(**{name: v for name, v in vars(state).items() if _is_plain(v)})
    return sent


def noting(columns: Mapping[str, Any], calls: list[Call]) -> dict[str, Any]:
    """The columns in the worker process: a call of one of TRL's functions is appended to `calls`."""

    def noted(name: str) -> Any:
        return lambda *args, **kwargs: calls.append((name, args, kwargs))

    return {**columns, **{name: noted(name) for name in _LOGS if name in columns}}


def replay(columns: Mapping[str, Any], calls: list[Call]) -> None:
    """Make the calls that were noted, in the trainer."""
    for name, args, kwargs in calls:
        columns[name](*args, **kwargs)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)
