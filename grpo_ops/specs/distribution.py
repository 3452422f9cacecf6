"""Distribution: the values that one setting may take in a search space."""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

from pydantic import Field, model_validator

from grpo_ops.specs.base import Spec

Choice: TypeAlias = bool | int | float | str | None


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are the same choice: 1 is 1.0, but not true."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


class Distribution(Spec):
    """The values of one setting: a range (`low`, `high`) or a list of `choices`."""

    low: int | float | None = None
    high: int | float | None = None
    log: bool = False
    """Draw evenly in the logarithm."""
    step: int | float | None = Field(None, gt=0)
    choices: tuple[Choice, ...] | None = None
    only_if: dict[str, Choice | tuple[Choice, ...]] = Field(default_factory=dict)
    """Draw this setting only where other axes have one of these values: `{"grpo.beta" = [0.01, 0.1]}`."""

    @model_validator(mode="after")
    def _range_or_choices(self) -> "Distribution":
        if (self.choices is None) == (self.low is None or self.high is None):
            raise ValueError("give low and high, or choices")
        if self.choices is None:
            self._check_range()
        elif not self.choices:
            raise ValueError("choices is empty")
        elif self.log or self.step is not None:
            raise ValueError("log and step belong to low and high, not to choices")
        return self

    def _check_range(self) -> None:
        assert self.low is not None and self.high is not None
        if self.low > self.high:
            raise ValueError(f"low = {self.low:g} is above high = {self.high:g}")
        if self.log and self.low <= 0:
            raise ValueError(f"log = true needs low > 0 but got {self.low:g}")
        if self.log and self.step is not None:
            raise ValueError("log and step cannot both be given")

    @property
    def is_integer(self) -> bool:
        """Whether the range is written in whole numbers (`4`, not `4.0`): counts where the setting takes any number."""
        return self.choices is None and all(isinstance(number, int) for number in self._numbers)

    @property
    def fraction(self) -> float | None:
        """The first of low, high and step that is not a whole number, None if all are."""
        return next((float(number) for number in self._numbers if not float(number).is_integer()), None)

    def values(self, whole: bool) -> Sequence[Any]:
        """Choices, the whole numbers of the range, or (for `whole` false) its ends."""
        if self.choices is not None:
            return self.choices
        assert self.low is not None and self.high is not None
        if whole:
            return range(int(self.low), int(self.high) + 1, int(self.step or 1))
        return (float(self.low), float(self.high)) if self.low < self.high else (float(self.low),)

    def listed(self, whole: bool) -> Sequence[Any] | None:
        """All values, where they can be listed; None for a range over any number without a step."""
        if self.choices is not None or whole or self.low == self.high:
            return tuple(self.values(whole))
        if self.step is None:
            return None
        assert self.low is not None and self.high is not None
        steps = math.floor((self.high - self.low) / self.step + 1e-9)
        return tuple(float(self.low + index * self.step) for index in range(steps + 1))

    def holds(self, value: Any) -> bool:
        """Whether `value` can be drawn, up to the step of a range."""
        if self.choices is not None:
            return any(is_same(value, choice) for choice in self.choices)
        assert self.low is not None and self.high is not None
        return isinstance(value, int | float) and not isinstance(value, bool) and self.low <= value <= self.high

    def allowed(self, path: str) -> tuple[Choice, ...]:
        """The values of the axis `path` for which this one is drawn."""
        values = self.only_if[path]
        return values if isinstance(values, tuple) else (values,)

    def allows(self, path: str, value: Any) -> bool:
        """Whether this one is drawn where the axis `path` has `value`."""
        return any(is_same(value, allowed) for allowed in self.allowed(path))

    def __str__(self) -> str:
        if self.choices is not None:
            return f"one of {', '.join(map(repr, self.choices))}"
        return f"between {self.low:g} and {self.high:g}"

    @property
    def _numbers(self) -> list[int | float]:
        return [number for number in (self.low, self.high, self.step) if number is not None]
