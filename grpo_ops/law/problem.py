"""What a fit minimises: one law, one curve, in units in which every curve looks alike."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from grpo_ops.law.scales import Scale
from grpo_ops.law.series import Series, thinned
from grpo_ops.law.types import Floats, Law

Flags = NDArray[np.bool_]

_MOST_POINTS, _COARSE_POINTS = 2048, 128
_TOLERATED = 2.0  # standard deviations from which on a residual counts less than by its square
_LIGHTEST, _HEAVIEST = 0.25, 4.0
_LEAST_SPREAD = 1e-3
_STEP = 1e-6


@dataclass(frozen=True, eq=False)
class Sample:
    """A curve as it is fitted: y = (reward / unit - origin) / spread, at most 2048 points, the rest averaged away.

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


@dataclass(frozen=True, eq=False)
class Problem:
    """A law against a sample, in coordinates u: its parameters, each on its scale.

    The cost is sum of 2 (sqrt(1 + r²) - 1) (soft L1), r = sqrt(weight) (y - predicted) / tolerance: squares for
    residuals well below two standard deviations, absolute values far above.
    """

    law: Law
    sample: Sample
    low: Floats
    high: Floats
    tolerance: float
    logs: Flags
    inverses: Flags

    @classmethod
    def of(cls, law: Law, sample: Sample) -> "Problem":
        logs, inverses = (_on(law, scale) for scale in (Scale.LOG, Scale.INVERSE_SQUARE))
        nowhere = np.empty(0)
        free = cls(law, sample, nowhere, nowhere, sample.tolerance, logs, inverses)
        ends = [free.coordinates(end) for end in law.bounds(sample.x, sample.y)]
        return replace(free, low=np.minimum(*ends), high=np.maximum(*ends))

    def coarse(self) -> "Problem":
        """The same law against fewer points."""
        return Problem.of(self.law, self.sample.coarse())

    def starts(self) -> list[Floats]:
        """The law's guesses within the bounds, best first."""
        found = [self.clip(self.coordinates(p)) for p in self.law.guess(self.sample.x, self.sample.y)]
        return sorted(found, key=lambda u: cost(self.residuals(u)))

    def clip(self, u: Floats) -> Floats:
        return np.minimum(np.maximum(u, self.low), self.high)

    def coordinates(self, p: Floats) -> Floats:
        u = p.copy()
        u[self.logs] = np.log(p[self.logs])
        u[self.inverses] = p[self.inverses] ** -2.0
        return u

    def params(self, u: Floats) -> Floats:
        p = u.copy()
        p[self.logs] = np.exp(u[self.logs])
        p[self.inverses] = u[self.inverses] ** -0.5
        return p

    def slopes(self, u: Floats) -> Floats:
        """d params / d u."""
        p = self.params(u)
        return np.where(self.logs, p, np.where(self.inverses, -0.5 * p**3, 1.0))

    def path(self, u: Floats) -> Floats:
        return self.law.predict(self.sample.x, self.params(u))

    def residuals(self, u: Floats) -> Floats:
        return np.asarray(self._scale * (self.sample.y - self.path(u)))

    def jacobian(self, u: Floats) -> Floats:
        """d path / d u times the residuals' scale: exact where the law is linear, else by differences.

        Adding the same to all levels adds it to the path, so that their columns sum to 1.
        """
        here, levels, linear = self.path(u), self.law.levels, self.law.levels + self.law.gains
        jacobian = np.empty((len(here), len(u)))
        for index, unit in enumerate(np.eye(len(u))):
            if index >= linear:
                step = _STEP * max(abs(u[index]), _STEP)
                jacobian[:, index] = (self.path(u + step * unit) - here) / step
            elif index != 0:
                jacobian[:, index] = self.path(np.concatenate((unit[:linear], u[linear:])))
        jacobian[:, 0] = 1 - jacobian[:, 1:levels].sum(axis=1)
        return self._scale[:, None] * jacobian

    def with_rewards(self, y: Floats) -> "Problem":
        """The same problem for other rewards at the same steps."""
        return replace(self, sample=replace(self.sample, y=y))

    @cached_property
    def _scale(self) -> Floats:
        return np.asarray(np.sqrt(self.sample.weights) / self.tolerance)


def cost(residuals: Floats) -> float:
    return 2 * float(np.sum(residuals**2 / (1 + np.sqrt(1 + residuals**2))))


def _on(law: Law, scale: Scale) -> Flags:
    return np.array([law.scales.get(name) is scale for name in law.names])


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
