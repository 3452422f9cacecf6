"""A reward function behind its guard: what is not a reward fails the run, nothing is ever scored 0 for an error."""

import asyncio
import inspect
import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any

from grpo_ops.errors import RewardError
from grpo_ops.tasks.types import last_text


class Reward:
    """A reward function as TRL calls it. `__name__` is its log name, `weight` its share, `unscored` counts its Nones.

    source: where the function is from, as `package.module:function`.

    Raises RewardError where the function raises, gives NaN or infinity, or not one number or None a completion.
    """

    def __init__(self, function: Callable[..., Any], name: str, weight: float, config: dict[str, Any]) -> None:
        self.function = function
        self.__name__ = name
        self.weight = weight
        self.config = config
        self.source = f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', name)}"
        self.unscored = 0

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
        values = self._call(prompts, completions, columns)
        rewards = self._checked(values, completions)
        missing = rewards.count(None)
        self.unscored += missing
        if missing and (log_metric := columns.get("log_metric")) is not None:
            log_metric(f"rewards/{self.__name__}/unscored", missing)
        return rewards

    def _call(self, prompts: Sequence[Any], completions: Sequence[Any], columns: dict[str, Any]) -> Any:
        try:
            return self._result(prompts, completions, columns)
        except Exception as error:
            culprit = self._culprit(prompts, completions, columns)
            raise self._error(f"raised {type(error).__name__}: {error}", culprit) from error

    def _result(self, prompts: Sequence[Any], completions: Sequence[Any], columns: dict[str, Any]) -> Any:
        result = self.function(prompts=prompts, completions=completions, **{**columns, **self.config})
        return asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result

    def _culprit(self, prompts: Sequence[Any], completions: Sequence[Any], columns: dict[str, Any]) -> Any:
        """The first completion that raises on its own; the first of all where none does."""
        for index, completion in enumerate(completions):
            own = {name: _at(value, index, len(completions)) for name, value in columns.items()}
            try:
                self._result([prompts[index]], [completion], own)
            except Exception:  # noqa: BLE001 - whatever it raises, this is the one
                return completion
        return completions[0] if completions else ""

    def _checked(self, values: Any, completions: Sequence[Any]) -> list[float | None]:
        first = completions[0] if completions else ""
        try:
            rewards = list(values)
        except TypeError:
            raise self._error(f"returned {values!r:.80} instead of a list of rewards", first) from None
        if len(rewards) != len(completions):
            raise self._error(f"returned {len(rewards)} rewards for {len(completions)} completions", first)
        return [self._number(value, completion) for value, completion in zip(rewards, completions, strict=True)]

    def _number(self, value: Any, completion: Any) -> float | None:
        if value is None:
            return None
        if hasattr(value, "item"):  # a number in a torch tensor or a NumPy array
            value = value.item()
        if not isinstance(value, numbers.Real):
            raise self._error(f"returned {value!r:.80}, which is no number and not None", completion)
        if not math.isfinite(value):
            raise self._error(f"returned {value}", completion)
        return float(value)

    def _error(self, what: str, completion: Any) -> RewardError:
        return RewardError(f"reward {self.__name__!r} {what}; completion: {last_text(completion)[:200]!r}")


async def _awaited(result: Any) -> Any:
    return await result


def _at(value: Any, index: int, count: int) -> Any:
    """One row's part of a column; what is no column (the trainer's state) stays whole."""
    return [value[index]] if isinstance(value, list | tuple) and len(value) == count else value
