"""Exponential saturation: R(x) = R_inf - (R_inf - R0) exp(-x / tau).

Source: arXiv 2507.18014 (minimal reading; its coefficients are refitted here, never reused).
"""

import numpy as np

from grpo_ops.law.types import Floats, Law

_SHORTEST, _LONGEST = 0.01, 5.0
_STARTS = (0.05, 0.2, 0.6, 2.0)


def predict(x: Floats, p: Floats) -> Floats:
    """R at progress x for p = (R0, R_inf, tau): R0 at x = 0, R_inf at the end of time.

    >>> predict(np.array([0.0, 0.3]), np.array([0.2, 0.8, 0.3])).round(3).tolist()
    [0.2, 0.579]
    """
    start, end, tau = p
    return np.asarray(end - (end - start) * np.exp(-x / tau))


def guess(x: Floats, y: Floats) -> list[Floats]:
    """For each of four tau the least squares (R0, R_inf): the law is linear in both."""
    return [np.array([*_levels(x, y, tau), tau]) for tau in _STARTS]


def bounds(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """R0 and R_inf at most one range of the data outside of it, tau between a hundredth of and five runs."""
    low, high = float(np.min(y)), float(np.max(y))
    span = high - low
    return np.array([low - span, low - span, _SHORTEST]), np.array([high + span, high + span, _LONGEST])


def _levels(x: Floats, y: Floats, tau: float) -> Floats:
    decay = np.exp(-x / tau)
    return np.asarray(np.linalg.lstsq(np.column_stack([decay, 1 - decay]), y, rcond=None)[0])


exponential = Law("exponential", ("R0", "R_inf", "tau"), predict, guess, bounds)
