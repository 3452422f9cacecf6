"""What tells one stretch of a curve from another: means of windows against what was before, slopes, bends."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from grpo_ops.law.segment_noise import noise_so_far
from grpo_ops.law.series import Series
from grpo_ops.law.types import Floats

MOST_CELLS = 256
_SMALLEST_WINDOW = 3
_WINDOW_RATIO = 1.5


@dataclass(frozen=True, eq=False)
class Cells:
    """A curve as at most 256 means of `block` neighbours, so that judging a long run costs no more than a short one.

    noise[t]: standard deviation of a cell as the first t cells show it. sure[t]: how many sigmas a difference of levels
    must have among t cells, so that noise alone seldom shows one anywhere: more for many cells, which are many chances,
    and more for few, which tell little of the noise (Student's t).
    """

    y: Floats
    block: int
    noise: Floats
    sure: Floats

    @classmethod
    def of(cls, series: Series) -> "Cells":
        block = -(-len(series) // MOST_CELLS)
        whole = len(series) // block * block
        y = series.y[:whole].reshape(-1, block).mean(axis=1)
        if whole < len(series):
            y = np.append(y, series.y[whole:].mean())
        seen = np.minimum(np.arange(len(y) + 1) * block, len(series))
        noise, told = noise_so_far(series.y, y, seen)
        chances = np.sqrt(4.0 + 2 * np.log(np.maximum(np.arange(len(y) + 1), 1)))
        return cls(y, block, noise, chances * (1 + 5 / np.maximum(told, 1)))

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def sums(self) -> Floats:
        return np.concatenate(([0.0], np.cumsum(self.y)))

    @cached_property
    def windows(self) -> NDArray[np.int64]:
        """Window lengths, as a column: 3, 5, 7, 10, ... up to half the curve."""
        count = 1 + int(math.log(max(1, len(self) / 2 / _SMALLEST_WINDOW), _WINDOW_RATIO))
        return np.round(_SMALLEST_WINDOW * _WINDOW_RATIO ** np.arange(count)).astype(np.int64)[:, None]

    @cached_property
    def trailing(self) -> Floats:
        """[window, t]: mean of the window of cells before t; NaN where there are too few."""
        low = np.arange(len(self) + 1) - self.windows
        means = (self.sums - self.sums[np.maximum(low, 0)]) / self.windows
        return np.where(low >= 0, means, np.nan)

    def mean(self, low: int, high: int) -> float:
        return float((self.sums[high] - self.sums[low]) / (high - low))


def steps_up(cells: Cells, since: int) -> tuple[Floats, Floats]:
    """[window, t]: by how much the last window lies above all cells from `since` up to it, and that in sigmas."""
    low = np.arange(len(cells) + 1) - cells.windows
    before = low - since
    usable = before >= _SMALLEST_WINDOW
    length = np.where(usable, before, 1)
    level = (cells.sums[np.maximum(low, 0)] - cells.sums[since]) / length
    gain = np.where(usable, cells.trailing - level, 0.0)
    return gain, gain / (cells.noise * np.sqrt(1 / cells.windows + 1 / length))


def falls(cells: Cells, since: int, sign: float = 1.0) -> tuple[Floats, Floats]:
    """[window, t]: best level of a window between `since` and the last window, and the fall from it.

    sign -1: rises from the lowest level.
    """
    t = np.arange(len(cells) + 1)
    inside = t >= since + cells.windows
    best = np.maximum.accumulate(np.where(inside, sign * cells.trailing, -np.inf), axis=1)
    best = np.take_along_axis(best, np.maximum(t - cells.windows, 0), axis=1)
    return sign * best, np.where(np.isfinite(best), best - sign * cells.trailing, -np.inf)


def slopes(cells: Cells, shares: Floats, since: int) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """[share, t]: slope of the last `share` of the cells since `since`, its standard error, and their number."""
    t = np.arange(len(cells) + 1)
    count = np.maximum(np.round(shares[:, None] * (t - since)).astype(np.int64), 2)
    low = np.maximum(t - count, 0)
    total = cells.sums - cells.sums[low]
    moments = np.concatenate(([0.0], np.cumsum(cells.y * np.arange(len(cells)))))
    spread = count * (count**2 - 1) / 12
    slope = (moments - moments[low] - total * (t + low - 1) / 2) / spread
    return slope, cells.noise / np.sqrt(spread), count


def bend(y: Floats, sign: float, noise: float, doubt: float = 0.0) -> int:
    """Index at which `y`, flat so far, begins to rise (sign 1) or to fall (-1): the best ramp, or the best step.

    A step must fit better than the ramp by 3 sigmas; both better than a ramp from the first value by `doubt` sigmas.
    """
    n = len(y)
    k = np.arange(1, n)
    tail = np.cumsum((sign * (y - y.mean()))[::-1])[:-1]
    ramp = np.maximum(np.cumsum(tail), 0) ** 2 / (k * (k + 1) * (2 * k + 1) / 6 - (k * (k + 1) / 2) ** 2 / n)
    step = np.maximum(tail, 0) ** 2 / (k * (1 - k / n))
    if max(step.max(), ramp.max()) < ramp[-1] + (doubt * noise) ** 2:
        return 0
    if step.max() > ramp.max() + (3 * noise) ** 2:
        return n - int(k[np.argmax(step)])
    return n - 1 - int(k[np.argmax(ramp)])
