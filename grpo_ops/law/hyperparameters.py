"""How far apart two runs of a study are in their hyperparameters, as coordinates in which alike runs lie close."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from grpo_ops.law.types import Floats

Params: TypeAlias = Mapping[str, Any]

_RATE = "learning_rate"
_ADAPTER = "lora"
#: A LoRA adapter takes a learning rate about five times as high as full training does.
_ADAPTER_FACTOR = 5.0
_WIDE = 3.0
_LARGEST = 1e100  # squares of it are still finite
_APART = math.sqrt(0.5)  # two different choices lie at distance 1


@dataclass(frozen=True, slots=True)
class _Axis:
    """One hyperparameter. values: all choices in the study, where it is no number. Else its middle and its span."""

    name: str
    values: tuple[str, ...] = ()
    is_log: bool = False
    middle: float = 0.0
    span: float = 1.0

    @property
    def width(self) -> int:
        return len(self.values) + 1 if self.values else 2

    def place(self, value: Any) -> list[float]:
        """A number: where it lies in the span, and 0; a choice: which. What is not known has a place of its own."""
        if self.values:
            known = [_APART if str(value) == choice else 0.0 for choice in self.values]
            return [*known, 0.0 if any(known) else _APART]
        if not _is_number(value) or (self.is_log and value <= 0):
            return [0.0, 1.0]
        return [((math.log(value) if self.is_log else float(value)) - self.middle) / self.span, 0.0]


@dataclass(frozen=True, eq=False)
class Hyperparameters:
    """The hyperparameters of a study's runs, by the last part of their dotted names.

    A number counts in units of its range over the study (of its logarithm, where it spans a factor of 3 and more); two
    different choices, and a number that only one of two runs has, lie 1 apart; the learning rate comes first, in
    decades, LoRA's counted a fifth.
    coordinates: (runs, 2 + ...), squared distances are those of the runs.
    """

    axes: tuple[_Axis, ...]
    rate: _Axis
    coordinates: Floats

    @classmethod
    def of(cls, runs: Sequence[Params | None]) -> "Hyperparameters":
        """From each run's hyperparameters; None or an empty mapping where they are not known."""
        known = [_plain(run or {}) for run in runs]
        names = sorted({name for run in known for name in run} - {_RATE})
        decades = [decade for run in known if (decade := _decades(run)) is not None]
        rate = _Axis(_RATE, middle=float(np.mean(decades)) if decades else 0.0)
        axes = tuple(_axis(name, [run.get(name) for run in known]) for name in names)
        width = 2 + sum(axis.width for axis in axes)
        places = np.array([_place(run, rate, axes) for run in known], dtype=np.float64)
        return cls(axes, rate, places.reshape(len(known), width))

    def only(self, runs: Sequence[int]) -> "Hyperparameters":
        """Those of the runs at these positions, told apart as before."""
        return Hyperparameters(self.axes, self.rate, self.coordinates[list(runs)])

    def with_own(self, run: Params | None) -> Floats:
        """Coordinates of `run` and then of the study's runs, (1 + runs, 2 + ...); all alike if `run` is not known."""
        if not run:
            return np.zeros((1 + len(self.coordinates), self.coordinates.shape[1]))
        return np.vstack([_place(_plain(run), self.rate, self.axes), self.coordinates])


def _place(run: Params, rate: _Axis, axes: Sequence[_Axis]) -> list[float]:
    return [*rate.place(_decades(run)), *(number for axis in axes for number in axis.place(run.get(axis.name)))]


def _plain(run: Params) -> dict[str, Any]:
    return {_short(str(name)): _as_float(value) for name, value in run.items()}


def _short(name: str) -> str:
    last = name if name.startswith("lora.") else name.rsplit(".", 1)[-1]
    return _RATE if last == "lr" else last


def _as_float(value: Any) -> Any:
    """A finite number of any type as a float whose square is finite; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    own = value if isinstance(value, int) else float(value)
    return float(max(-_LARGEST, min(own, _LARGEST))) if -math.inf < own < math.inf else own


def _decades(run: Params) -> float | None:
    rate: Any = run.get(_RATE)
    if not _is_number(rate) or not rate > 0:
        return None
    return math.log10(rate) - (math.log10(_ADAPTER_FACTOR) if run.get(_ADAPTER) is True else 0.0)


def _axis(name: str, values: Sequence[Any]) -> _Axis:
    known = [value for value in values if value is not None]
    if not all(map(_is_number, known)):
        return _Axis(name, tuple(sorted({str(value) for value in known})))
    low, high = float(min(known)), float(max(known))
    is_log = low > 0 and high / low >= _WIDE
    ends = (math.log(low), math.log(high)) if is_log else (low, high)
    return _Axis(name, is_log=is_log, middle=(ends[0] + ends[1]) / 2, span=ends[1] - ends[0] or 1.0)


def _is_number(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value)
