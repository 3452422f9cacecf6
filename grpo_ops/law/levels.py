"""What the laws share: each is linear in its levels, so that for a given shape the levels follow in closed form."""

import numpy as np
from numpy.typing import NDArray

from grpo_ops.law.types import Floats

_RIDGE = 1e-10
_MOST_STARTS = 4


def between(start: float, end: float, shape: Floats) -> Floats:
    """The path from `start` (shape 0) to `end` (shape 1)."""
    return np.asarray(start + (end - start) * shape)


def grid_minima(y: Floats, columns: Floats, *axes: Floats) -> list[Floats]:
    """Starting points, best first: the local minima over a grid of shapes, of the least squares that levels can reach.

    columns: (a, b, n, levels), what the levels multiply for each of a x b shapes at n points. axes: a and b values of
    the shape's parameters; a single one has b = 1.
    """
    normal, right = np.swapaxes(columns, -1, -2) @ columns, y @ columns
    ridge = _RIDGE * (np.trace(normal, axis1=-2, axis2=-1)[..., None, None] + _RIDGE) * np.eye(columns.shape[-1])
    levels = np.linalg.solve(normal + ridge, right[..., None])[..., 0]
    errors = -np.sum(right * levels, axis=-1)
    places = sorted(np.argwhere(_is_minimum(errors)).tolist(), key=lambda place: float(errors[tuple(place)]))
    return [_start(levels[tuple(place)], axes, place) for place in places[:_MOST_STARTS]]


def reach(y: Floats) -> tuple[float, float]:
    """Lowest and highest level that a law may take: one range of the data below and above them."""
    low, high = float(np.min(y)), float(np.max(y))
    return 2 * low - high, 2 * high - low


def _is_minimum(values: Floats) -> NDArray[np.bool_]:
    """Which cells of a table are no greater than their four neighbours."""
    padded = np.pad(values, 1, constant_values=np.inf)
    around = (padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:])
    return np.asarray(values <= np.minimum.reduce(around))


def _start(levels: Floats, axes: tuple[Floats, ...], place: list[int]) -> Floats:
    return np.array([*levels, *(axis[index] for axis, index in zip(axes, place, strict=False))])
