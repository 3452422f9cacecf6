"""ScaleRL's sigmoid in compute: R(C) = R0 + (A - R0) / (1 + (C_mid / C)^B).

Source: arXiv 2510.13786 (its sigmoidal compute-performance curve). There R is held-out reward and C compute over the
whole of a run; here C is progress, which is proportional to compute where a step costs the same throughout the run.

95 % intervals on planted runs (gain 0.7, noise 0.05 to 0.1, C_mid 0.15 to 0.3, B 1.5 to 5, 50 to 500 points,
correlation of the noise 0 or 0.3; 500 draws each): they hold the truth in 92 to 98 %, but R0 at 50 points with
C_mid = 0.3 and B = 3 in 99 %, and A at noise 0.1 with B = 5 in 98.2 %.
A is an extrapolation: with C_mid = 0.3 its standard error is twice that with 0.15.
"""

import numpy as np

from grpo_ops.law.levels import between, grid_minima, reach
from grpo_ops.law.scales import Scale
from grpo_ops.law.types import Floats, Law

_MIDDLES, _EXPONENTS = (0.005, 3.0), (0.3, 10.0)
_MIDDLE_GRID = np.array([0.01, 0.03, 0.07, 0.13, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.95, 1.5])
_EXPONENT_GRID = np.array([0.5, 1.0, 2.0, 4.0, 8.0])


def predict(x: Floats, p: Floats) -> Floats:
    """R at C = x for p = (R0, A, C_mid, B): half of the gain at C_mid, A with unlimited compute.

    >>> predict(np.array([0.0, 0.2, 1.0]), np.array([0.2, 0.8, 0.2, 2.0])).round(3).tolist()
    [0.2, 0.5, 0.777]
    """
    start, end, middle, exponent = p
    return between(start, end, shape(x, middle, exponent))


def shape(x: Floats, middle: float | Floats, exponent: float | Floats) -> Floats:
    """Share of the gain that has come at x: 0 at x = 0, 1/2 at `middle`."""
    done = x**exponent
    return np.asarray(done / (done + middle**exponent))


def guess(x: Floats, y: Floats) -> list[Floats]:
    """The best of 13 midpoints and 5 exponents, each with its least squares (R0, A)."""
    g = shape(x, _MIDDLE_GRID[:, None, None], _EXPONENT_GRID[:, None])
    return grid_minima(y, np.stack([1 - g, g], axis=-1), _MIDDLE_GRID, _EXPONENT_GRID)


def bounds(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Levels at most one range of the data outside of it, C_mid 0.005 to 3 runs, B 0.3 to 10."""
    low, high = reach(y)
    return np.array([low, low, _MIDDLES[0], _EXPONENTS[0]]), np.array([high, high, _MIDDLES[1], _EXPONENTS[1]])


scalerl = Law("scalerl", ("R0", "A", "C_mid", "B"), predict, guess, bounds, scales={"C_mid": Scale.LOG, "B": Scale.LOG})
