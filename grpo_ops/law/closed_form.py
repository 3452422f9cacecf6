"""The closed-form forecast: y = R0 + G g(x) + noise, averaged over 30 shapes g. No optimiser, a fraction of a ms.

Source: derived in this project (normal priors on R0 and G make the posterior of each shape a 2x2 linear system).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from grpo_ops.law.series import Series, thinned, trailing_mean
from grpo_ops.law.types import Floats

_TAUS = np.geomspace(0.04, 3.0, 9)[:, None]
_MIDDLES = np.repeat([0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0], 3)[:, None]
_RATES = np.tile([6.0, 14.0, 30.0], 7)[:, None]
_MOST_POINTS = 512  # beyond it neighbours are averaged: the cost stays bounded and nothing measurable is lost


def shapes(x: Floats) -> Floats:
    """The 30 shapes at progress x, one a row, all with g(0) = 0: saturations, then logistics."""
    saturations = -np.expm1(-x / _TAUS)
    return np.concatenate([saturations, _logistic(_RATES * (x - _MIDDLES)) - _logistic(-_RATES * _MIDDLES)])


@dataclass(frozen=True, eq=False)
class Mixture:
    """Posterior of (R0, G) for each shape, with the shapes' weights, in units of `scale` above `origin`."""

    weights: Floats
    starts: Floats
    gains: Floats
    a: Floats
    b: Floats
    d: Floats
    origin: float
    scale: float

    def path(self, x: Floats) -> Floats:
        """Expected level at each x."""
        return self.path_over(shapes(x))

    def path_over(self, g: Floats) -> Floats:
        """Expected level where the shapes are `g`, (30, points)."""
        return np.asarray(self.origin + self.scale * (self.weights @ self.starts + (self.weights * self.gains) @ g))

    def level(self, x: Floats) -> tuple[float, float]:
        """Mean and standard deviation of the average level over x."""
        g = shapes(x).mean(axis=1)
        means = self.starts + self.gains * g
        variances = (self.d - 2 * self.b * g + self.a * g * g) / (self.a * self.d - self.b**2)
        mean = float(self.weights @ means)
        variance = float(self.weights @ (variances + (means - mean) ** 2))
        return self.origin + self.scale * mean, self.scale * float(np.sqrt(variance))


@lru_cache(maxsize=256)
def mixture(series: Series) -> Mixture:
    """The posterior given the points of `series`, which must not be empty or constant."""
    block = -(-len(series) // _MOST_POINTS)
    x, y = thinned(series.x, block), thinned(series.y, block)
    origin, scale = float(y[0]), float(np.ptp(y)) or 1.0
    return _posterior(shapes(x), (y - origin) / scale, max(1, series.window // block), origin, scale)


def final_level(series: Series) -> tuple[float, float]:
    """Mean and standard deviation of the mean over the last w planned points; a constant curve stays what it is."""
    if series.is_constant:
        return series.recent(), 0.0
    return mixture(series).level(final_window(series))


def levels_ahead(series: Series) -> Floats:
    """final_level's mean after each of the points 1..m of `series`, all in one pass: (m,)."""
    y, count, window = series.y - series.y[0], np.arange(1.0, len(series) + 1), series.window
    g, at_end = shapes(series.x), shapes(final_window(series)).mean(axis=1)[:, None]
    s2 = _noises(y, count)
    level = trailing_mean(y, window)
    reach = 2 * np.maximum(_running_range(level), np.sqrt(s2 / window)) + 1e-9 * _running_range(y)
    first = np.cumsum(y)[np.minimum(count.astype(int), window) - 1] / np.minimum(count, window)
    v0 = 1e3 * (s2 + reach**2)
    with np.errstate(divide="ignore", invalid="ignore"):  # no scale yet: the level stays what it is
        sums = (count / s2 + 1 / v0, np.cumsum(g, axis=1) / s2, np.cumsum(g * g, axis=1) / s2 + 1 / reach**2)
        moments = (np.cumsum(y) / s2 + first / v0, np.cumsum(g * y, axis=1) / s2)
        starts, gains, weights = _solved(*sums, *moments)
        expected = np.sum(weights * (starts + gains * at_end), axis=0)
    return np.asarray(series.y[0] + np.where(np.isfinite(expected), expected, y))


def _noises(y: Floats, count: Floats) -> Floats:
    """s2 of _posterior for each of the first counts."""
    steps, pairs = np.concatenate(([0.0], np.diff(y))), np.maximum(count - 1, 1)
    of_steps = np.cumsum(steps**2) / pairs - (np.cumsum(steps) / pairs) ** 2
    of_values = np.cumsum(y**2) / count - (np.cumsum(y) / count) ** 2
    floor = 1e-8 * _running_range(y) ** 2
    return np.asarray(np.maximum(of_steps, 0) / 2 + 0.02 * np.maximum(of_values, 0) + floor)


def _running_range(values: Floats) -> Floats:
    return np.asarray(np.maximum.accumulate(values) - np.minimum.accumulate(values))


def final_window(series: Series) -> Floats:
    """Progress of the last w planned points; of more than 512, of as many spread evenly over them."""
    count = min(series.window, _MOST_POINTS)
    spread = (np.arange(count) + 0.5) * series.window / count + 0.5
    return np.asarray((series.n - series.window + spread) / series.n)


def _posterior(g: Floats, y: Floats, window: int, origin: float, scale: float) -> Mixture:
    m = len(y)
    s2 = (float(np.var(np.diff(y))) / 2 if m > 1 else 0.0) + 0.02 * float(np.var(y)) + 1e-8
    reach = 2 * max(float(np.ptp(trailing_mean(y, window))), float(np.sqrt(s2 / window))) + 1e-9
    r0, v0 = float(np.mean(y[:window])), 1e3 * (s2 + reach**2)
    a, b, d = np.full(len(g), m / s2 + 1 / v0), g.sum(axis=1) / s2, (g * g).sum(axis=1) / s2 + 1 / reach**2
    u, v = y.sum() / s2 + r0 / v0, g @ y / s2
    starts, gains, weights = _solved(a, b, d, u, v)
    return Mixture(weights, starts, gains, a, b, d, origin, scale)


def _solved(a: Floats, b: Floats, d: Floats, u: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
    """R0 and G of each shape from the normal equations, and the shapes' weights; shapes along the first axis."""
    determinant = a * d - b * b
    starts, gains = (d * u - b * v) / determinant, (a * v - b * u) / determinant
    evidence = (u * starts + v * gains) / 2 - np.log(determinant) / 2
    weights = np.exp(evidence - evidence.max(axis=0))
    return starts, gains, weights / weights.sum(axis=0)


def _logistic(z: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-z)))
