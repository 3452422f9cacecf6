"""The nouns of a forecast. Values only; nothing here computes one."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

from scipy.special import ndtr

from grpo_ops.law.types import FitStatus, Phase, or_none

Calibration = Literal["siblings", "model-error", "none"]


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
