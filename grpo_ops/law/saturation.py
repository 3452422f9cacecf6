"""Exponential saturation: R(x) = R_inf - (R_inf - R0) exp(-x / tau).

Source: arXiv 2507.18014 (minimal reading; its coefficients are refitted here, never reused); the overdamped limit of
the law in oscillator.py.

95 % intervals on planted runs (gain 0.4 to 0.6, noise 0.05 to 0.1, tau 0.15 to 0.3, 50 to 500 points, correlation of
the noise 0 or 0.3; 500 draws each): they hold the truth in 92 to 98 %. At tau = 0.7 a run is still rising when it ends:
at 50 points with correlation 0.3 R_inf is covered in 91.4 %, and 7 % of the fits end at a bound.
"""

import numpy as np

from grpo_ops.law.levels import between, grid_minima, reach
from grpo_ops.law.scales import Scale
from grpo_ops.law.types import Floats, Law

_SHORTEST, _LONGEST = 0.01, 5.0
_TAUS = np.geomspace(0.015, 4.0, 16)


def predict(x: Floats, p: Floats) -> Floats:
    """R at progress x for p = (R0, R_inf, tau): R0 at x = 0, R_inf at the end of time.

    >>> predict(np.array([0.0, 0.3]), np.array([0.2, 0.8, 0.3])).round(3).tolist()
    [0.2, 0.579]
    """
    start, end, tau = p
    return between(start, end, shape(x, tau))


def shape(x: Floats, tau: float | Floats) -> Floats:
    """Share of the gain that has come at x: 0 at x = 0, rising to 1."""
    return np.asarray(-np.expm1(-x / tau))


def guess(x: Floats, y: Floats) -> list[Floats]:
    """The best of 16 tau, each with its least squares (R0, R_inf)."""
    g = shape(x, _TAUS[:, None, None])
    return grid_minima(y, np.stack([1 - g, g], axis=-1), _TAUS)


def bounds(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """R0 and R_inf at most one range of the data outside of it, tau between a hundredth of and five runs."""
    low, high = reach(y)
    return np.array([low, low, _SHORTEST]), np.array([high, high, _LONGEST])


exponential = Law("exponential", ("R0", "R_inf", "tau"), predict, guess, bounds, scales={"tau": Scale.LOG})
