"""The nouns of the law: a law, a fit of it, a forecast, a phase. Values only; nothing here computes a fit."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Floats = NDArray[np.float64]
Calibration = Literal["siblings", "model-error", "none"]


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


@dataclass(frozen=True, slots=True)
class PathPoint:
    """The level expected at one step between now and the horizon, with its band."""

    step: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """The noise-free reward expected over the last tenth of the planned steps.

    mean, sd: its mean and standard deviation; low, high: the central band that holds it with probability `level`.
    step, horizon: where the curve ends now and where the run will end. last_value: mean of the recent rewards.
    noise: standard deviation of one point. plateau_step: first step after which less than a twentieth of the whole
    expected gain is left, None where there is no such step or no gain.
    calibration: where the band's width is from: `siblings` (how wrong the last value was on finished runs of the
    study), `model-error` (the law's own band, widened), `none` (no band: numbers that are not known are NaN).
    """

    mean: float
    sd: float
    low: float
    high: float
    level: float
    horizon: int
    step: int
    last_value: float
    noise: float
    phase: Phase
    plateau_step: int | None
    calibration: Calibration
    status: FitStatus
    path: tuple[PathPoint, ...] = ()

    def chance_above(self, value: float) -> float:
        """P(final level > value), normal in mean and sd; NaN without a band."""
        if not self.sd > 0:
            return math.nan if math.isnan(self.mean) else float(self.mean > value)
        return float(ndtr((self.mean - value) / self.sd))

    def mirrored(self) -> "Forecast":
        """The forecast of the curve with its sign turned; the phase stays what it was."""
        path = tuple(PathPoint(point.step, -point.mean, -point.high, -point.low) for point in self.path)
        return replace(self, mean=-self.mean, low=-self.high, high=-self.low, last_value=-self.last_value, path=path)

    def as_dict(self) -> dict[str, Any]:
        """The forecast as JSON can carry it, without the path; numbers that are not known become None."""
        return {
            "mean": or_none(self.mean),
            "sd": or_none(self.sd),
            "low": or_none(self.low),
            "high": or_none(self.high),
            "level": self.level,
            "horizon": self.horizon,
            "step": self.step,
            "last_value": or_none(self.last_value),
            "noise": or_none(self.noise),
            "phase": self.phase.value,
            "plateau_step": self.plateau_step,
            "calibration": self.calibration,
            "status": self.status.value,
        }


def or_none(value: float) -> float | None:
    """A finite number as a plain float, anything else as None: JSON has no NaN."""
    return float(value) if math.isfinite(value) else None
