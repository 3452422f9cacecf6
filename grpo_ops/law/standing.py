"""Where a run stands after its first m points, for every m at once: what forecasts of its final level look at."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grpo_ops.law.closed_form import final_level, levels_ahead
from grpo_ops.law.series import Series, points_until, recent_window
from grpo_ops.law.types import Floats

MOST_POINTS = 512


@dataclass(frozen=True, eq=False)
class Track:
    """The standings of one run after each of its points.

    table: (6, points): mean of the k recent points; of the k before them; of the first w; the law's level for the end;
    standard deviation of one point; variance of the recent mean. x: (points,) progress.
    final, final_variance: mean of the last w points, and its variance.
    """

    table: Floats
    x: Floats
    final: float
    final_variance: float

    @classmethod
    def of(cls, series: Series) -> "Track":
        """The standings of `series`, which must not be empty. Beyond 512 points neighbours are averaged first."""
        coarse = series.coarse(MOST_POINTS)
        window = min(len(coarse), coarse.window)
        return cls(_table(coarse), coarse.x, coarse.final, coarse.error(window) ** 2)

    def at(self, progress: float) -> Floats:
        """The standing, (6,), after the last point that is not beyond `progress`, or after the first one."""
        return np.asarray(self.table[:, max(0, points_until(self.x, progress) - 1)])


def standing(series: Series) -> Floats:
    """The standing after the last point of `series`, (6,): the last column of its track, without the others."""
    coarse = series.coarse(MOST_POINTS)
    m = len(coarse)
    window = min(m, recent_window(m))
    before = coarse.y[max(0, m - 2 * window) : m - window] if m > window else coarse.y
    law, _ = final_level(coarse)
    parts = (coarse.recent(), np.mean(before), coarse.start, law, coarse.noise, coarse.error(window) ** 2)
    return np.array(parts, dtype=np.float64)


def _table(series: Series) -> Floats:
    sums = np.concatenate(([0.0], np.cumsum(series.y)))
    count = np.arange(1, len(series) + 1)
    window = np.minimum(count, np.maximum(recent_window(1), count // 5))
    recent = _means(sums, count - window, count)
    before = np.where(count > window, _means(sums, np.maximum(count - 2 * window, 0), count - window), recent)
    start = _means(sums, np.zeros_like(count), np.minimum(count, series.window))
    steps = np.concatenate(([0.0], np.diff(series.y) ** 2))
    noise = np.sqrt(np.cumsum(steps) / np.maximum(count - 1, 1) / 2)
    return np.stack([recent, before, start, levels_ahead(series), noise, noise**2 / window * series.inflation])


def _means(sums: Floats, first: NDArray[np.int_], end: NDArray[np.int_]) -> Floats:
    """Means of the points from `first` to before `end`."""
    return np.asarray((sums[end] - sums[first]) / np.maximum(end - first, 1))
