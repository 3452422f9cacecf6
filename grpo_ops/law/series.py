"""A curve as the law reads it: columns, the planned number of points, and the few averages that every rule uses."""

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from grpo_ops.curve import RewardCurve
from grpo_ops.law.types import Floats

_ROUNDING = 1e-12
_LARGEST, _SMALLEST = 1e60, 1e-60  # their fourth powers, which a determinant is, are still floats
_FEWEST_FOR_CORRELATION, _SHRINKAGE = 12, 40


@dataclass(frozen=True, eq=False)
class Series:
    """Rewards y[1..m] of a run that will have n points, as LAW counts them.

    steps: the step of each point. spacing: median distance of two. n: planned number of points. horizon: last step.
    """

    y: Floats
    steps: tuple[int, ...]
    n: int
    spacing: int
    horizon: int
    _recent: dict[int, float] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, curve: RewardCurve, horizon: int | None = None, sign: float = 1.0) -> "Series":
        """`curve` times `sign`; the horizon is the planned last step, never before the curve's own last."""
        return _series(curve.steps, curve.rewards, curve.max_steps, horizon, sign)

    def __len__(self) -> int:
        return len(self.steps)

    def until(self, horizon: int) -> "Series":
        """The same points of a run that ends at `horizon`, or at its last step if that is later."""
        end = max(horizon, self.last_step)
        return Series(self.y, self.steps, _planned(self.steps, self.spacing, end), self.spacing, end)

    @property
    def last_step(self) -> int:
        return self.steps[-1] if self.steps else 0

    @property
    def window(self) -> int:
        """w: points that make the final level, a tenth of the planned ones and at least 3."""
        return max(3, self.n // 10)

    def coarse(self, most: int) -> "Series":
        """The same run with neighbours averaged until there are at most `most` points; itself where there are."""
        block = -(-len(self) // most)
        if block <= 1:
            return self
        steps = tuple(self.steps[end - 1] for end in range(block + len(self) % block, len(self) + 1, block))
        return Series(
            thinned(self.y, block), steps, max(len(steps), -(-self.n // block)), block * self.spacing, self.horizon
        )

    @cached_property
    def x(self) -> Floats:
        """Progress of each point, 1 at the planned last one: the share of planned points that it completes."""
        first = self.steps[0] if self.steps else 0
        return np.asarray((1 + (np.array(self.steps, dtype=np.float64) - first) / self.spacing) / self.n)

    @cached_property
    def noise(self) -> float:
        """Standard deviation of one point, from neighbours: sqrt(mean(diff(y)²) / 2). 0 for fewer than 2 points."""
        return float(np.sqrt(np.mean(np.diff(self.y) ** 2) / 2)) if len(self) > 1 else 0.0

    @cached_property
    def correlation(self) -> float:
        """Correlation of neighbouring points' noise, from differences over one and over two points; 0 to 0.9.

        Derived here: for AR(1) noise mean(diff²) over lag h is 2 sd² (1 - rho^h), so two lags give 1 + rho = their
        ratio, whatever slow trend there is. Shrunk towards 0 for few points.
        """
        if len(self) < _FEWEST_FOR_CORRELATION or self.noise == 0:
            return 0.0
        two = float(np.mean((self.y[2:] - self.y[:-2]) ** 2)) / 2
        found = two / self.noise**2 - 1
        return float(np.clip(found * len(self) / (len(self) + _SHRINKAGE), 0.0, 0.9))

    def error(self, count: int) -> float:
        """Standard error of the mean of `count` neighbouring points, their correlation counted in."""
        return self.noise * float(np.sqrt(self.inflation / count))

    @property
    def inflation(self) -> float:
        """How much larger the variance of a mean is than `noise`² / count, for the noise's correlation (AR(1))."""
        return (1 + self.correlation) / (1 - self.correlation) ** 2

    @cached_property
    def final(self) -> float:
        """Mean of the last w values: the level at which a finished run ended."""
        return float(np.mean(self.y[-self.window :]))

    @cached_property
    def start(self) -> float:
        """Mean of the first w values."""
        return float(np.mean(self.y[: self.window]))

    @cached_property
    def is_constant(self) -> bool:
        return bool(np.ptp(self.y) <= _ROUNDING * np.max(np.abs(self.y)))

    @cached_property
    def is_beyond_floats(self) -> bool:
        """Whether rewards are so large, or differ by so little, that squares of them overflow or underflow."""
        low, high = float(np.min(self.y, initial=math.inf)), float(np.max(self.y, initial=-math.inf))
        return len(self) > 0 and (max(high, -low) > _LARGEST or 0 < high - low < _SMALLEST)

    def position(self, step: int) -> float:
        """Which of the planned points `step` is, counted from 1."""
        return 1 + (step - self.steps[0]) / self.spacing

    def step_at(self, progress: float | Floats) -> Floats:
        """The step at which `progress` is reached, not always a whole one: what `x` is of a step, the other way."""
        return np.asarray(self.steps[0] + (progress * self.n - 1) * self.spacing)

    def count_at(self, progress: float) -> int:
        """Points at `progress` and before."""
        return points_until(self.x, progress)

    def count(self, step: int) -> int:
        """Points at `step` and before."""
        return bisect_right(self.steps, step)

    @property
    def recent_count(self) -> int:
        """How many points the recent level rests on."""
        return min(len(self), recent_window(len(self)))

    def recent(self, count: int | None = None) -> float:
        """Mean of the last max(5, m // 5) of the first `count` values, of all without it; remembered."""
        m = len(self) if count is None else count
        if m not in self._recent:
            self._recent[m] = self.mean_before(m, recent_window(m))
        return self._recent[m]

    def mean_before(self, count: int, window: int) -> float:
        """Mean of the last `window` of the first `count` values, of as many as there are."""
        return float(np.mean(self.y[max(0, count - window) : count]))


def points_until(x: Floats, progress: float) -> int:
    """How many of the increasing x are not beyond `progress`, up to rounding."""
    return int(np.searchsorted(x, progress * (1 + 1e-9), side="right"))


def recent_window(m: int) -> int:
    """k: how many of m points the recent level rests on."""
    return max(5, m // 5)


def trailing_mean(y: Floats, window: int) -> Floats:
    """Mean of each value and those before it, `window` in all; at the start of those that there are."""
    sums = np.cumsum(np.concatenate(([0.0], y)))
    last = np.arange(1, len(y) + 1)
    first = np.maximum(last - window, 0)
    return np.asarray((sums[last] - sums[first]) / (last - first))


def smoothed(y: Floats, window: int) -> Floats:
    """Centred moving mean of the same length; at the ends over the part of the window that exists."""
    half = min(window, len(y)) // 2
    sums = np.cumsum(np.concatenate(([0.0], y)))
    index = np.arange(len(y))
    low, high = np.maximum(index - half, 0), np.minimum(index + half + 1, len(y))
    return np.asarray((sums[high] - sums[low]) / (high - low))


def thinned(values: Floats, block: int) -> Floats:
    """Means of `block` neighbours; what does not fill a block at the front joins the first one."""
    if block <= 1:
        return values
    edges = np.arange(len(values) % block, len(values), block)
    edges[:1] = 0
    return np.asarray(np.add.reduceat(values, edges) / np.diff(np.append(edges, len(values))))


@lru_cache(maxsize=256)
def _series(
    steps: tuple[int, ...], rewards: tuple[float, ...], max_steps: int | None, horizon: int | None, sign: float
) -> Series:
    """Of the columns and not of the curve, whose metrics the cache would keep."""
    last = steps[-1] if steps else 0
    end = max(horizon or max_steps or last, last)
    spacing = RewardCurve(steps, rewards).spacing
    return Series(sign * np.array(rewards, dtype=np.float64), steps, _planned(steps, spacing, end), spacing, end)


def _planned(steps: tuple[int, ...], spacing: int, end: int) -> int:
    """Number of points from the first one to `end`."""
    first = steps[0] if steps else spacing
    return max(len(steps), 1 + round((end - first) / spacing))
