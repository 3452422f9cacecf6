"""How far apart two runs of a study are in their hyperparameters."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grpo_ops.law.types import Floats

Params = Mapping[str, Any]

_RATE = "learning_rate"
_ADAPTER = "lora"
#: A LoRA adapter takes a learning rate about five times as high as full training does (recorded sweeps of this project).
_ADAPTER_FACTOR = 5.0
_WIDE = 3.0


@dataclass(frozen=True, slots=True)
class _Axis:
    """One hyperparameter: how to read it, and how wide the study searches it. span 0: a choice, not a number."""

    name: str
    is_log: bool
    span: float


@dataclass(frozen=True, eq=False)
class Hyperparameters:
    """The hyperparameters of a study's runs, by the last part of their dotted names.

    A learning rate is told apart in decades; any other number in units of its range over the study (of its logarithm,
    where it spans a factor of 3 and more); a choice, and a number that one of the two lacks, is the same or not.
    """

    runs: tuple[Params, ...]
    axes: tuple[_Axis, ...]

    @classmethod
    def of(cls, runs: Sequence[Params | None]) -> "Hyperparameters":
        """From each run's hyperparameters; None or an empty mapping where they are not known."""
        known = tuple(_plain(run or {}) for run in runs)
        names = sorted({name for run in known for name in run} - {_RATE})
        return cls(known, tuple(_axis(name, [run.get(name) for run in known]) for name in names))

    def only(self, runs: Sequence[int]) -> "Hyperparameters":
        """Those of the runs at these positions, told apart as before."""
        return Hyperparameters(tuple(self.runs[run] for run in runs), self.axes)

    def decades(self, run: Params | None) -> float:
        """log10 of the run's learning rate, LoRA's counted a fifth; NaN where it is not known."""
        return _decades(_plain(run or {}))

    @property
    def all_decades(self) -> Floats:
        """`decades` of each of the study's runs, (runs,)."""
        return np.array([_decades(run) for run in self.runs])

    def apart(self, run: Params | None) -> Floats:
        """Squared distance of `run` from each of the study's runs, its learning rate left out: (runs,)."""
        own = _plain(run or {})
        if not own:
            return np.zeros(len(self.runs))
        return np.array([_total(self.axes, own, other) for other in self.runs], dtype=np.float64)


def _plain(run: Params) -> dict[str, Any]:
    return {name.rsplit(".", 1)[-1] if not name.startswith("lora.") else name: value for name, value in run.items()}


def _decades(run: Params) -> float:
    rate: Any = run.get(_RATE)
    if not _is_number(rate) or not rate > 0:
        return math.nan
    return math.log10(rate / _ADAPTER_FACTOR) if run.get(_ADAPTER) is True else math.log10(rate)


def _axis(name: str, values: Sequence[Any]) -> _Axis:
    numbers = [float(value) for value in values if _is_number(value)]
    if len(numbers) < sum(value is not None for value in values) or len(set(numbers)) < 2:
        return _Axis(name, False, 0.0)
    low, high = min(numbers), max(numbers)
    is_log = low > 0 and high / low >= _WIDE
    return _Axis(name, is_log, math.log(high / low) if is_log else high - low)


def _total(axes: Sequence[_Axis], one: Params, other: Params) -> float:
    return sum(_squared(axis, one, other) for axis in axes) if other else 0.0


def _squared(axis: _Axis, one: Params, other: Params) -> float:
    a: Any = one.get(axis.name)
    b: Any = other.get(axis.name)
    if axis.span == 0 or not (_is_number(a) and _is_number(b)) or (axis.is_log and min(a, b) <= 0):
        return float(a != b)
    gap = math.log(a / b) if axis.is_log else a - b
    return float(min(1.0, abs(gap) / axis.span) ** 2)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
