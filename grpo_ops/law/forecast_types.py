"""The nouns of a forecast. Values only; nothing here computes one."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

from scipy.special import ndtr, stdtr

from grpo_ops.law.phases import PhaseSpan
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
    """The mean reward over the last tenth of the planned steps, as Student's t.

    mean, sd, df: mean, standard deviation and degrees of freedom; low, high: the central band that holds the level with
    probability `level`, the little noise that a mean over a tenth of the run still has included.
    next_mean, next_low, next_high: the same for the next observation, its noise included.
    step, horizon: where the curve ends now and where the run will end. last_value: mean of the recent rewards.
    noise: standard deviation of one point.
    phase, phases: the current phase, and all of them so far.
    plateau_step: first step after which less than a stated part of the whole expected gain is left, None where there
    is no such step or no gain; plateau_low, plateau_high: its band, plateau_high None where it may be after the end.
    collapse_chance: that the run ends more than half of its gain below its own best level so far.
    calibration: where the band's width is from: `siblings` (how wrong forecasts were on finished runs of the study),
    `model-error` (how wrong they were on recorded runs), `none` (no band: numbers that are not known are NaN).
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
    df: float = math.inf
    next_mean: float = math.nan
    next_low: float = math.nan
    next_high: float = math.nan
    plateau_low: int | None = None
    plateau_high: int | None = None
    collapse_chance: float = math.nan
    phases: tuple[PhaseSpan, ...] = ()

    @property
    def scale(self) -> float:
        """The t distribution's scale: its sd without the factor for its tails."""
        return self.sd if math.isinf(self.df) else self.sd * math.sqrt((self.df - 2) / self.df)

    def chance_above(self, value: float) -> float:
        """P(final level > value); NaN without a band."""
        if not self.sd > 0:
            return math.nan if math.isnan(self.sd) else float(self.mean > value)
        if math.isinf(self.df):
            return float(ndtr((self.mean - value) / self.sd))
        return float(stdtr(self.df, (self.mean - value) / self.scale))

    def mirrored(self) -> "Forecast":
        """The forecast of the curve with its sign turned; what needs more to be better (phases, collapse) stays."""
        path = tuple(PathPoint(point.step, -point.mean, -point.high, -point.low) for point in self.path)
        return replace(
            self,
            mean=-self.mean,
            low=-self.high,
            high=-self.low,
            next_mean=-self.next_mean,
            next_low=-self.next_high,
            next_high=-self.next_low,
            last_value=-self.last_value,
            path=path,
        )

    def as_dict(self) -> dict[str, Any]:
        """The forecast as JSON can carry it, without the path; numbers that are not known become None."""
        numbers = ("mean", "sd", "low", "high", "last_value", "noise", "next_mean", "next_low", "next_high")
        return {
            **{name: or_none(getattr(self, name)) for name in numbers},
            "df": or_none(self.df),
            "level": self.level,
            "horizon": self.horizon,
            "step": self.step,
            "phase": self.phase.value,
            "phases": [span.as_dict() for span in self.phases],
            "plateau_step": self.plateau_step,
            "plateau_low": self.plateau_low,
            "plateau_high": self.plateau_high,
            "collapse_chance": or_none(self.collapse_chance),
            "calibration": self.calibration,
            "status": self.status.value,
        }
