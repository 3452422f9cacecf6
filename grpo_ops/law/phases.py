"""Which phase a run is in, from its smoothed level and what is still expected of it. First version, no hysteresis."""

import numpy as np

from grpo_ops.law.series import Series, recent_window, trailing_mean
from grpo_ops.law.types import Phase

_FEWEST_POINTS = 5
_SURE = 3.0
_DECLINE_SHARE = 0.3
_LEFT_SHARE = 0.1
_RISE_OVER = 0.2


def phase_of(series: Series, expected: float, plateau_step: int | None = None) -> Phase:
    """The phase at the last point of `series`. More must be better.

    expected: the level forecast for its end. plateau_step: from which step on hardly any gain is forecast.
    """
    if len(series) < _FEWEST_POINTS or series.is_constant:
        return Phase.NO_SIGNAL
    error = _SURE * _error_of_a_difference(series)
    now, start, best = series.recent(), series.start, _best(series)
    if best - now > max(error, _DECLINE_SHARE * (best - start)):
        return Phase.DECLINE
    if now - start <= error:
        return Phase.SLOW_START if expected - now > error else Phase.NO_SIGNAL
    flat = now - _earlier(series) < max(error, _LEFT_SHARE * (now - start))
    past_onset = plateau_step is not None and series.last_step >= plateau_step
    return Phase.PLATEAU if flat and (past_onset or _little_left(series, expected)) else Phase.RISE


def _little_left(series: Series, expected: float) -> bool:
    now = series.recent()
    return expected - now < max(_LEFT_SHARE * (now - series.start), _error_of_a_difference(series))


def _earlier(series: Series) -> float:
    return series.recent(max(1, len(series) - max(1, round(_RISE_OVER * series.n))))


def _error_of_a_difference(series: Series) -> float:
    return series.noise * float(np.sqrt(2 / recent_window(len(series))))


def _best(series: Series) -> float:
    window = min(len(series), recent_window(len(series)))
    return float(np.max(trailing_mean(series.y, window)[window - 1 :]))
