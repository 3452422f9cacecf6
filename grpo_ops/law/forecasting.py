"""forecast(): where a run will end, with a band that says what it rests on."""

import math
from collections.abc import Sequence

import numpy as np

from grpo_ops.curve import RewardCurve
from grpo_ops.errors import LawError
from grpo_ops.law.calibration import Outlook, outlook
from grpo_ops.law.closed_form import Mixture, mixture
from grpo_ops.law.forecast_types import Forecast, PathPoint
from grpo_ops.law.phases import phase_of
from grpo_ops.law.series import Series, recent_window
from grpo_ops.law.types import FitStatus, Floats, Phase

PLATEAU_SHARE = 0.05
_FEWEST_POINTS = 3
_PATH_POINTS = 24
_GRID_POINTS = 200
_SURE = 2.0


def forecast(
    curve: RewardCurve, horizon: int | None = None, siblings: Sequence[RewardCurve] = (), level: float = 0.8
) -> Forecast:
    """The level that `curve` will have at `horizon` (default: its planned last step).

    siblings: finished curves of the same study; from three on they set the band. level: probability that the band
    holds. More reward is taken to be better, for the phase alone.
    Raises LawError for a level outside (0, 1) and a horizon before the last step; a curve that is too short or
    constant gets a forecast whose status says so.
    """
    _check(curve, horizon, level)
    series = Series.of(curve, horizon)
    if len(series) < _FEWEST_POINTS:
        return _nothing_known(series, level)
    ahead = outlook(series, [Series.of(sibling) for sibling in siblings if len(sibling)], level)
    return _forecast(series, ahead, level)


def _forecast(series: Series, ahead: Outlook, level: float) -> Forecast:
    law = None if series.is_constant else mixture(series)
    half = ahead.reach * ahead.sd
    plateau_step = None if law is None else _plateau_step(series, law)
    phase = phase_of(series, ahead.mean, plateau_step)
    return Forecast(
        mean=ahead.mean,
        sd=ahead.sd,
        low=ahead.mean - half,
        high=ahead.mean + half,
        level=level,
        horizon=series.horizon,
        step=series.last_step,
        last_value=series.recent(),
        noise=series.noise,
        phase=phase,
        plateau_step=plateau_step if _agrees(phase, plateau_step, series) else None,
        calibration=ahead.calibration,
        status=_status(series, phase),
        path=_path(series, law, ahead),
    )


def _agrees(phase: Phase, plateau_step: int | None, series: Series) -> bool:
    """A plateau that has begun while the run still rises, or that no gain leads to, is none."""
    if phase is Phase.RISE:
        return plateau_step is not None and plateau_step > series.last_step
    return phase in (Phase.SLOW_START, Phase.PLATEAU)


def _status(series: Series, phase: Phase) -> FitStatus:
    if series.is_constant:
        return FitStatus.CONSTANT
    return FitStatus.POOR if phase is Phase.NO_SIGNAL else FitStatus.OK


def _plateau_step(series: Series, law: Mixture) -> int | None:
    x = np.linspace(0, 1, _GRID_POINTS + 1)
    levels = law.path(x)
    gain = levels[-1] - levels[0]
    if abs(gain) < _SURE * series.noise / math.sqrt(series.window):
        return None
    left = (levels[-1] - levels) / gain
    reached = np.maximum.accumulate(left[::-1])[::-1] < PLATEAU_SHARE
    step = round(float(x[np.argmax(reached)]) * series.horizon)
    return step if step < series.horizon else None


def _path(series: Series, law: Mixture | None, ahead: Outlook) -> tuple[PathPoint, ...]:
    steps = np.unique(np.linspace(series.last_step, series.horizon, _PATH_POINTS).round().astype(int))
    done = (steps - series.last_step) / max(1, series.horizon - series.last_step)
    now = series.recent()
    means = now + (ahead.mean - now) * _shape(law, series, steps, done)
    error = series.noise / math.sqrt(recent_window(len(series)))
    halves = ahead.reach * np.sqrt(np.maximum(error**2 + (ahead.sd**2 - error**2) * done, 0))
    return tuple(
        PathPoint(int(step), float(mean), float(mean - half), float(mean + half))
        for step, mean, half in zip(steps, means, halves, strict=True)
    )


def _shape(law: Mixture | None, series: Series, steps: Floats, done: Floats) -> Floats:
    """How much of the change still to come has come at each step, by the law; evenly where it expects none."""
    if law is None or len(steps) < 2:
        return done
    levels = law.path(np.array([series.position(int(step)) for step in steps]) / series.n)
    change = levels[-1] - levels[0]
    even = abs(change) < 1e-9 * np.ptp(series.y)
    return done if even else np.clip((levels - levels[0]) / change, 0, 1)


def _nothing_known(series: Series, level: float) -> Forecast:
    last = series.recent() if len(series) else math.nan
    nan, known = math.nan, FitStatus.TOO_FEW_POINTS
    place = (level, series.horizon, series.last_step)
    return Forecast(last, nan, nan, nan, *place, last, series.noise, Phase.NO_SIGNAL, None, "none", known)


def _check(curve: RewardCurve, horizon: int | None, level: float) -> None:
    if not 0 < level < 1:
        raise LawError(f"level must lie between 0 and 1 but got {level}")
    if horizon is not None and horizon < max(1, curve.steps[-1] if curve.steps else 1):
        last = curve.steps[-1] if curve.steps else 0
        raise LawError(f"horizon {horizon} is before the curve's last step {last}; cut the curve with upto({horizon})")
