"""A curve as it is fitted: in units in which every curve looks alike, thinned, each point with its weight."""

from dataclasses import dataclass, replace

import numpy as np

from grpo_ops.law.series import Series, thinned
from grpo_ops.law.types import Floats

_MOST_POINTS, _COARSE_POINTS = 2048, 128
_TOLERATED = 2.0  # standard deviations from which on a residual counts less than by its square
_LIGHTEST, _HEAVIEST = 0.25, 4.0
_LEAST_SPREAD = 1e-3


@dataclass(frozen=True, eq=False)
class Sample:
    """y = (reward / unit - origin) / spread, at most 2048 points, the rest averaged away.

    x, y, weights: one a point; weights have mean 1. unit: the largest absolute reward, so that no square overflows.
    origin: median of reward / unit. spread: 1.48 times their median distance from it, at least a thousandth of the
    range (where most rewards are equal). full_x, full_y: all points, in the same units.
    """

    x: Floats
    y: Floats
    weights: Floats
    full_x: Floats
    full_y: Floats
    unit: float
    origin: float
    spread: float

    @classmethod
    def of(cls, series: Series) -> "Sample":
        unit = float(np.max(np.abs(series.y)))
        y = series.y / unit
        origin = float(np.median(y))
        spread = max(1.4826 * float(np.median(np.abs(y - origin))), _LEAST_SPREAD * float(np.ptp(y)))
        full, weights = (y - origin) / spread, _window_lengths(series)
        columns = _averaged(series.x, full, weights, _MOST_POINTS)
        return cls(*columns, series.x, full, unit, origin, spread)

    def coarse(self) -> "Sample":
        """At most 128 points: enough to tell one starting point from another."""
        x, y, weights = _averaged(self.x, self.y, self.weights, _COARSE_POINTS)
        return replace(self, x=x, y=y, weights=weights)

    @property
    def tolerance(self) -> float:
        """Twice the noise of one point, from the median step between neighbours: outliers must not widen it much."""
        steps = np.diff(self.y)
        typical, rms = 1.4826 * float(np.median(np.abs(steps))), float(np.sqrt(np.mean(steps**2)))
        return _TOLERATED * max(typical, 0.2 * rms, 1e-9) / float(np.sqrt(2))


def _averaged(x: Floats, y: Floats, weights: Floats, most: int) -> tuple[Floats, Floats, Floats]:
    """The three as weighted means (weights: as means of 1) of neighbours, so that no more than `most` are left."""
    block = -(-len(x) // most)
    heavy = thinned(weights, block)
    return thinned(x, block), thinned(weights * y, block) / heavy, heavy / heavy.mean()


def _window_lengths(series: Series) -> Floats:
    """Steps that each point averages, in units of the usual distance: those since the point before.

    Held within a quarter and four, as a long gap is more often a lost row than a mean over it.
    """
    steps = np.array(series.steps, dtype=np.float64)
    gaps = np.diff(steps, prepend=steps[0] - series.spacing) / series.spacing
    return np.clip(gaps, _LIGHTEST, _HEAVIEST)
