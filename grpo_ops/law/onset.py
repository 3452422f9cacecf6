"""When the plateau begins: the step from which on less than a stated part of the whole expected gain is left."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from grpo_ops.law.closed_form import Mixture, shapes
from grpo_ops.law.series import Series
from grpo_ops.law.types import Floats

_GRID_POINTS = 200
_SURE = 2.0


@dataclass(frozen=True, slots=True)
class Onset:
    """step: the plateau's first; low, high: its band, high None where the plateau may begin after the end."""

    step: int
    low: int
    high: int | None


def onset(series: Series, law: Mixture, share: float, level: float) -> Onset | None:
    """None where the law expects no gain that stands out of the noise, or no plateau before the end.

    share: the part of the gain that may be left. The band is over the law's shapes, by their weights.
    """
    levels = law.path_over(_on_grid())
    if abs(levels[-1] - levels[0]) < _SURE * series.error(series.window):
        return None
    step = _step_at(float(_first_below(levels[None, :], share)[0]) / _GRID_POINTS, series)
    if step >= series.horizon:
        return None
    ends = _quantiles(_shape_onsets(share), law.weights, ((1 - level) / 2, (1 + level) / 2))
    low, high = (_step_at(progress, series) for progress in ends)
    return Onset(step, min(step, low), _within(max(step, high), series))


def _step_at(progress: float, series: Series) -> int:
    first = series.steps[0]
    return first + max(0, round(float(series.step_at(progress)) - first))


def _within(step: int, series: Series) -> int | None:
    return step if step < series.horizon else None


def _first_below(levels: Floats, share: float) -> NDArray[np.int_]:
    """Index of the first point from which on less than `share` of each row's gain is left."""
    gain = levels[:, -1:] - levels[:, :1]
    left = np.abs(levels[:, -1:] - levels) / np.where(gain == 0, 1.0, np.abs(gain))
    reached = np.maximum.accumulate(left[:, ::-1], axis=1)[:, ::-1] < share
    return np.asarray(np.argmax(reached, axis=1))


@lru_cache(maxsize=8)
def _shape_onsets(share: float) -> Floats:
    """Progress at which each of the shapes has its plateau's onset."""
    return _first_below(_on_grid(), share) / _GRID_POINTS


@lru_cache(maxsize=1)
def _on_grid() -> Floats:
    return shapes(np.linspace(0, 1, _GRID_POINTS + 1))


def _quantiles(values: Floats, weights: Floats, at: tuple[float, float]) -> tuple[float, float]:
    order = np.argsort(values)
    reached = np.cumsum(weights[order]) / math.fsum(weights)
    low, high = (float(values[order[min(len(values) - 1, int(np.searchsorted(reached, part)))]]) for part in at)
    return low, high
