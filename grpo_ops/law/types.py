"""The nouns of the law: a law, a fit of it, a phase. Values only; nothing here computes a fit."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Phase(StrEnum):
    """Where a run is on its way. `NO_SIGNAL`: nothing that can be told from noise (yet)."""

    SLOW_START = "slow start"
    RISE = "rise"
    PLATEAU = "plateau"
    DECLINE = "decline"
    NO_SIGNAL = "no signal"


class FitStatus(StrEnum):
    """How far a fit or a forecast can be trusted; a bad one is a result, never an exception."""

    OK = "ok"
    POOR = "poor"
    TOO_FEW_POINTS = "too few points"
    CONSTANT = "constant"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Law:
    """A reward law: pure functions of progress x = step / horizon.

    names: the parameters, in the order of a parameter vector p.
    predict(x, p): the reward at each x. guess(x, y): starting points, each a p. bounds(x, y): lowest and highest p.
    """

    name: str
    names: tuple[str, ...]
    predict: Callable[[Floats, Floats], Floats]
    guess: Callable[[Floats, Floats], list[Floats]]
    bounds: Callable[[Floats, Floats], tuple[Floats, Floats]]


@dataclass(frozen=True, slots=True)
class LawFit:
    """A law fitted to one curve.

    params: by the law's names; empty unless status is OK or POOR. covariance: in the same order, row by row.
    noise: standard deviation of one point around the law. r2: against the raw points; r2_smoothed: against their
    moving average. n: points that were fitted. horizon: the step at which progress is 1.
    """

    law: str
    status: FitStatus
    n: int
    horizon: int
    params: Mapping[str, float] = field(default_factory=dict)
    covariance: tuple[tuple[float, ...], ...] = ()
    noise: float = math.nan
    r2: float = math.nan
    r2_smoothed: float = math.nan

    def as_dict(self) -> dict[str, Any]:
        """The fit as JSON can carry it: numbers that are not finite become None."""
        return {
            "law": self.law,
            "status": self.status.value,
            "n": self.n,
            "horizon": self.horizon,
            "params": {name: or_none(value) for name, value in self.params.items()},
            "covariance": [[or_none(value) for value in row] for row in self.covariance],
            "noise": or_none(self.noise),
            "r2": or_none(self.r2),
            "r2_smoothed": or_none(self.r2_smoothed),
        }


def or_none(value: float) -> float | None:
    """A finite number as a plain float, anything else as None: JSON has no NaN."""
    return float(value) if math.isfinite(value) else None
