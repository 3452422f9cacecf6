"""A reward function behind its guard: what is not a reward is an error, nothing is ever scored 0 for one."""

import asyncio
import inspect
import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from grpo_ops.errors import RewardError
from grpo_ops.tasks.types import last_text


class Scores(NamedTuple):
    """One value a completion, None where the reward does not apply. timeouts: how many are None for want of time."""

    values: list[float | None]
    timeouts: int = 0


@dataclass(frozen=True)
class Scorer:
    """Calls `function` in this process. name: its log name; config: keyword arguments that go with every call.

    Raises RewardError where the function raises, gives NaN or infinity, or not one number or None a completion.
    """

    function: Callable[..., Any]
    name: str
    config: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]) -> Scores:
        return Scores(self._checked(self._call(prompts, completions, columns), completions))

    def _call(self, prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]) -> Any:
        try:
            return self._result(prompts, completions, columns)
        except Exception as error:
            culprit = self._culprit(prompts, completions, columns)
            raise self._error(f"raised {type(error).__name__}: {error}", culprit) from error

    def _result(self, prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]) -> Any:
        result = self.function(prompts=prompts, completions=completions, **{**columns, **self.config})
        return asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result

    def _culprit(self, prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]) -> Any:
        """The first completion that raises on its own; the first of all where none does."""
        for index, completion in enumerate(completions):
            try:
                self._result([prompts[index]], [completion], own_columns(columns, index, len(completions)))
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
        return RewardError(f"reward {self.name!r} {what}; completion: {last_text(completion)[:200]!r}")


def own_columns(columns: Mapping[str, Any], index: int, count: int) -> dict[str, Any]:
    """One completion's part of the columns; what is no column (the trainer's state) stays whole."""
    return {
        name: [value[index]] if isinstance(value, list | tuple) and len(value) == count else value
        for name, value in columns.items()
    }


async def _awaited(result: Any) -> Any:
    return await result
