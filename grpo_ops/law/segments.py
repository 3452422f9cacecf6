"""What tells one stretch of a curve from another: means of windows against what was before, slopes, bends."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from grpo_ops.law.segment_noise import noise_so_far
from grpo_ops.law.series import Series
from grpo_ops.law.types import Floats

MOST_CELLS = 200
_SMALLEST_WINDOW = 3
_WINDOW_RATIO = 1.5
_FALL_FACTOR = 1.05


@dataclass(frozen=True, eq=False)
class Cells:
    """A curve as at most 200 means of `block` neighbours, so that judging a long run costs no more than a short one.

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
    def low(self) -> NDArray[np.int64]:
        """[window, t]: where the window before t begins; negative where there are too few cells."""
        return np.asarray(np.arange(len(self) + 1) - self.windows)

    @cached_property
    def moments(self) -> Floats:
        return np.concatenate(([0.0], np.cumsum(self.y * np.arange(len(self)))))

    @cached_property
    def sure_fall(self) -> Floats:
        """[window, t]: by how much a window must lie below the best one of its length to have surely fallen."""
        return np.asarray(_FALL_FACTOR * self.sure * self.noise * np.sqrt(2 / self.windows))

    @cached_property
    def trailing(self) -> Floats:
        """[window, t]: mean of the window of cells before t; NaN where there are too few."""
        means = (self.sums - self.sums[np.maximum(self.low, 0)]) / self.windows
        return np.where(self.low >= 0, means, np.nan)

    @cached_property
    def reach(self) -> float:
        """Distance of the highest and the lowest trailing mean of a tenth of the curve."""
        window = max(_SMALLEST_WINDOW, len(self) // 10)
        means = (self.sums[window:] - self.sums[:-window]) / window
        return float(np.ptp(means)) if len(means) else 0.0

    def mean(self, low: int, high: int) -> float:
        return float((self.sums[high] - self.sums[low]) / (high - low))


def steps_up(cells: Cells, since: int) -> tuple[Floats, Floats]:
    """[window, t]: by how much the last window lies above all cells from `since` up to it, and that in sigmas."""
    before = cells.low - since
    usable = before >= _SMALLEST_WINDOW
    length = np.where(usable, before, 1)
    level = (cells.sums[np.maximum(cells.low, 0)] - cells.sums[since]) / length
    gain = np.where(usable, cells.trailing - level, 0.0)
    return gain, gain / (cells.noise * np.sqrt(1 / cells.windows + 1 / length))


def falls(cells: Cells, since: int, sign: float = 1.0) -> tuple[Floats, Floats]:
    """[window, t]: best level of a window between `since` and the last window, and the fall from it.

    sign -1: rises from the lowest level.
    """
    level = sign * cells.trailing
    best = np.maximum.accumulate(np.where(cells.low >= since, level, -np.inf), axis=1)
    best = np.take_along_axis(best, np.maximum(cells.low, 0), axis=1)
    return sign * best, np.where(np.isfinite(best), best - level, -np.inf)


def slopes(cells: Cells, shares: Floats, since: int) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """[share, t]: slope of the last `share` of the cells since `since`, its standard error, and their number."""
    t = np.arange(len(cells) + 1)
    count = np.maximum(np.round(shares[:, None] * (t - since)).astype(np.int64), 2)
    low = np.maximum(t - count, 0)
    total = cells.sums - cells.sums[low]
    spread = count * (count**2 - 1) / 12
    slope = (cells.moments - cells.moments[low] - total * (t + low - 1) / 2) / spread
    return slope, cells.noise / np.sqrt(spread), count


def bend(y: Floats, sign: float, noise: float) -> tuple[int, float]:
    """Index at which `y`, flat so far, begins to rise (sign 1) or to fall (-1): of the best ramp, or the best step.

    A step must fit better than the ramp by 3 sigmas. Second: by how many sigmas the bend fits better than a ramp from
    the first value on.
    """
    n = len(y)
    k = np.arange(1, n)
    tail = np.cumsum((sign * (y - y.mean()))[::-1])[:-1]
    ramp = np.maximum(np.cumsum(tail), 0) ** 2 / (k * (k + 1) * (2 * k + 1) / 6 - (k * (k + 1) / 2) ** 2 / n)
    step = np.maximum(tail, 0) ** 2 / (k * (1 - k / n))
    best = float(max(step.max(), ramp.max()))
    better = math.sqrt(best - ramp[-1]) / noise if noise > 0 else 0.0
    if step.max() > ramp.max() + (3 * noise) ** 2:
        return n - int(k[np.argmax(step)]), better
    return n - 1 - int(k[np.argmax(ramp)]), better
