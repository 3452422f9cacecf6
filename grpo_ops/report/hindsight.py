"""Hindsight: what would have been said early in a finished run, against what happened."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from grpo_ops.curve import RewardCurve
from grpo_ops.errors import CurveError
from grpo_ops.law import Forecast, Phase, forecast
from grpo_ops.law.hyperparameters import Params
from grpo_ops.law.series import Series
from grpo_ops.law.types import or_none
from grpo_ops.report.siblings import Siblings

PROGRESS = (0.1, 0.2, 0.3, 0.5, 0.7)
_FINISHED = 0.95
_FEWEST_POINTS = 3


@dataclass(frozen=True, slots=True)
class Said:
    """The forecast after `progress` of a run. inside: whether the band holds the truth; None without a band."""

    progress: float
    step: int
    last_value: float
    mean: float
    low: float
    high: float
    inside: bool | None
    phase: Phase
    collapse_chance: float
    calibration: str

    @classmethod
    def of(cls, progress: float, ahead: Forecast, truth: float) -> "Said":
        inside = None if np.isnan(ahead.low) else bool(ahead.low <= truth <= ahead.high)
        numbers = (ahead.step, ahead.last_value, ahead.mean, ahead.low, ahead.high)
        return cls(progress, *numbers, inside, ahead.phase, ahead.collapse_chance, ahead.calibration)

    def as_dict(self) -> dict[str, Any]:
        """As JSON can carry it."""
        known = {name: or_none(value) if isinstance(value, float) else value for name, value in asdict(self).items()}
        return known | {"phase": self.phase.value}


@dataclass(frozen=True)
class Hindsight:
    """A finished run and what would have been said. truth: the mean of its last tenth. notes: one sentence each."""

    name: str
    truth: float
    horizon: int
    level: float
    siblings: int
    said: tuple[Said, ...]
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def of(
        cls,
        curve: RewardCurve,
        *,
        name: str = "run",
        siblings: Siblings | None = None,
        params: Params | None = None,
        level: float = 0.8,
        notes: Sequence[str] = (),
        progress: Sequence[float] = PROGRESS,
    ) -> "Hindsight":
        """Forecast the end of `curve` from its first shares. Raises CurveError for a run that has not finished."""
        _check(curve, name)
        others, series = siblings or Siblings(), Series.of(curve, curve.steps[-1])
        said = []
        for share in progress:
            early = curve.head(_count(series, share))
            ahead = forecast(early, series.horizon, others.pool, level, params=params)
            said.append(Said.of(share, ahead, series.final))
        return cls(name, series.final, series.horizon, level, len(others), tuple(said), tuple(notes))

    def as_dict(self) -> dict[str, Any]:
        """As JSON can carry it."""
        known = {name: getattr(self, name) for name in ("name", "truth", "horizon", "level", "siblings")}
        return known | {"said": [one.as_dict() for one in self.said], "warnings": list(self.notes)}


def _count(series: Series, share: float) -> int:
    """Points in the first `share` of the run, as grpo_ops.replay counts them."""
    return max(_FEWEST_POINTS, int(np.searchsorted(series.x, share * (1 + 1e-9), side="right")))


def _check(curve: RewardCurve, name: str) -> None:
    if len(curve) <= _FEWEST_POINTS:
        raise CurveError(f"{name} has {len(curve)} points: too few to look back on")
    if curve.max_steps and curve.steps[-1] < _FINISHED * curve.max_steps:
        raise CurveError(
            f"{name} has not finished (step {curve.steps[-1]} of {curve.max_steps}), so there is no end to compare with"
        )
