"""What the laws share: each is linear in its levels, so that for a given shape the levels follow in closed form."""

import numpy as np

from grpo_ops.law.types import Floats


def between(start: float, end: float, shape: Floats) -> Floats:
    """The path from `start` (shape 0) to `end` (shape 1)."""
    return np.asarray(start + (end - start) * shape)


def solved(y: Floats, columns: list[Floats], *rest: float) -> Floats:
    """The parameter vector (least squares coefficients of y on `columns`, rest)."""
    levels = np.linalg.lstsq(np.column_stack(columns), y, rcond=None)[0]
    return np.array([*levels, *rest])


def reach(y: Floats) -> tuple[float, float]:
    """Lowest and highest level that a law may take: one range of the data below and above them."""
    low, high = float(np.min(y)), float(np.max(y))
    return 2 * low - high, 2 * high - low
