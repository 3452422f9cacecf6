"""A curve in one line of a terminal."""

import math
from collections.abc import Sequence
from itertools import pairwise

_BARS = "▁▂▃▄▅▆▇█"
_PLAIN = "_.-=^"


def sparkline(
    values: Sequence[float], width: int = 48, scale: tuple[float, float] | None = None, *, plain: bool = False
) -> str:
    """`values` as at most `width` bars, each the mean of its share of them; a blank where there is none.

    scale: values of the lowest and the highest bar; by default those of the means. plain: ASCII only.
    """
    means = cell_means(values, width)
    low, high = scale or scale_of(means)
    return "".join(_bar(mean, low, high, _PLAIN if plain else _BARS) for mean in means)


def cell_means(values: Sequence[float], width: int) -> list[float]:
    """Means of at most `width` neighbouring parts of `values`; NaN for a part without finite values."""
    return [_mean(cell) for cell in _cells(values, width)]


def scale_of(values: Sequence[float]) -> tuple[float, float]:
    """Lowest and highest finite value; (0, 0) where there is none."""
    finite = [value for value in values if math.isfinite(value)]
    return (min(finite), max(finite)) if finite else (0.0, 0.0)


def _cells(values: Sequence[float], width: int) -> list[Sequence[float]]:
    count = min(width, len(values))
    edges = [round(index * len(values) / count) for index in range(count + 1)] if count else []
    return [values[a:b] for a, b in pairwise(edges)]


def _mean(cell: Sequence[float]) -> float:
    known = [value for value in cell if math.isfinite(value)]
    return math.fsum(known) / len(known) if known else math.nan


def _bar(value: float, low: float, high: float, bars: str) -> str:
    if math.isnan(value):
        return " "
    share = (value - low) / (high - low) if high > low else 0.5
    return bars[min(len(bars) - 1, max(0, int(share * len(bars))))]
