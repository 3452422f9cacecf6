"""A track: one logged number where it was logged, with the averages, trends and durations that detectors ask for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from grpo_ops.law.series import recent_window, smoothed, thinned, trailing_mean
from grpo_ops.law.types import Floats

MIN_POINTS = 8
_TREND_BLOCKS = 40
_LARGEST = 1e100  # squares of it are still finite


@dataclass(frozen=True, eq=False)
class Track:
    """The finite values of one metric and the steps they belong to; at least MIN_POINTS of them."""

    steps: NDArray[np.int64]
    values: Floats

    @classmethod
    def of(cls, steps: Sequence[int], values: Sequence[float]) -> "Track | None":
        """None where fewer than MIN_POINTS values are finite: too little to call anything a symptom."""
        column = np.array(values, dtype=np.float64)
        kept = np.isfinite(column)
        if np.count_nonzero(kept) < MIN_POINTS:
            return None
        return cls(np.array(steps, dtype=np.int64)[kept], np.clip(column[kept], -_LARGEST, _LARGEST))

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def noise(self) -> float:
        """Standard deviation of one value, from neighbours: sqrt(mean(diff²) / 2)."""
        return float(np.sqrt(np.mean(np.diff(self.values) ** 2) / 2))

    @cached_property
    def start(self) -> float:
        """Mean of the first tenth, of at least 5 values."""
        return float(np.mean(self.values[: self._start_count]))

    @cached_property
    def recent(self) -> float:
        """Mean of the last fifth, of at least 5 values."""
        return float(np.mean(self.values[-recent_window(len(self)) :]))

    @cached_property
    def gain(self) -> float:
        return self.recent - self.start

    @cached_property
    def gain_error(self) -> float:
        """Standard error of the gain, if neighbours were independent."""
        return self.noise * math.sqrt(1 / self._start_count + 1 / recent_window(len(self)))

    @cached_property
    def smooth_window(self) -> int:
        return max(5, len(self) // 10)

    @cached_property
    def smooth(self) -> Floats:
        """Centred moving mean over a tenth of the points."""
        return smoothed(self.values, self.smooth_window)

    @cached_property
    def smooth_error(self) -> float:
        return self.noise / math.sqrt(self.smooth_window)

    @cached_property
    def trailing(self) -> Floats:
        """Mean of each value and the few before it: what was known at that step."""
        return trailing_mean(self.values, max(5, len(self) // 20))

    @cached_property
    def span(self) -> float:
        """Range of the smoothed values."""
        return float(np.ptp(self.smooth))

    @property
    def _start_count(self) -> int:
        return max(5, len(self) // 10)

    def has_risen(self, errors: float = 4.0) -> bool:
        """Whether it ends above its start by more than `errors` standard errors."""
        return self.gain > errors * self.gain_error and self.gain > 0

    def part(self, share: float) -> "Track":
        """The last `share` of the points, at least MIN_POINTS."""
        count = max(MIN_POINTS, round(share * len(self)))
        return Track(self.steps[-count:], self.values[-count:])

    def after(self, step: int) -> "Track | None":
        kept = self.steps >= step
        return Track(self.steps[kept], self.values[kept]) if np.count_nonzero(kept) >= MIN_POINTS else None

    def trend(self) -> "Trend":
        """Kendall's tau against time over block means, so that neighbours that hang together count once."""
        blocks = thinned(self.values, max(1, len(self) // _TREND_BLOCKS))
        if np.ptp(blocks) == 0:
            return Trend(0.0, 1.0)
        test = stats.kendalltau(np.arange(len(blocks)), blocks)
        return Trend(float(test.statistic), float(test.pvalue))

    def last_step(self) -> int:
        return int(self.steps[-1])


@dataclass(frozen=True, slots=True)
class Trend:
    """tau: -1 (always falls) to 1 (always rises). p: how likely that much is without any trend."""

    tau: float
    p: float

    def rises(self, level: float = 0.01) -> bool:
        return self.tau > 0 and self.p < level

    def falls(self, level: float = 0.01) -> bool:
        return self.tau < 0 and self.p < level


def standing_since(values: Floats, enter: float, leave: float) -> int | None:
    """Where the stretch begins that lasts until the end, never went below `leave`, and reached `enter`.

    >>> standing_since(np.array([0.0, 5.0, 0.0, 3.0, 5.0, 4.0]), enter=5, leave=3)
    3
    """
    outside = np.flatnonzero(values < leave)
    begin = int(outside[-1]) + 1 if outside.size else 0
    inside = values[begin:]
    return begin if inside.size and float(np.max(inside)) >= enter else None
