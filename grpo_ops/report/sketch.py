"""Sketch: what every picture of a forecast shows, as numbers; figure.py (matplotlib) and page.py (plotly) draw it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grpo_ops.curve import RewardCurve
from grpo_ops.law import LAWS, Forecast, LawFit, PhaseSpan
from grpo_ops.law.diagnostics import Finding
from grpo_ops.law.series import Series, smoothed
from grpo_ops.report.forecast_report import ForecastReport

MOST_SIBLINGS = 40
_MOST_POINTS = 4000
_MOST_SIBLING_POINTS = 200
_LAW_POINTS = 200


@dataclass(frozen=True)
class Line:
    """Values over steps."""

    steps: tuple[int | float, ...]
    values: tuple[float, ...]
    label: str = ""


@dataclass(frozen=True)
class Sketch:
    """points, smooth, law: None where there is nothing to draw. siblings: smoothed, 40 at most."""

    title: str
    ahead: Forecast
    points: Line | None
    smooth: Line | None
    law: Line | None
    siblings: tuple[Line, ...]
    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, report: ForecastReport) -> "Sketch":
        """The sketch of `report`."""
        ahead = report.forecast
        series = Series.of(report.curve, ahead.horizon)
        points = _thinned(series.steps, series.y, _MOST_POINTS, "reward") if len(series) else None
        return cls(
            f"{report.name}: step {ahead.step} of {ahead.horizon}",
            ahead,
            points,
            _smooth(series, _MOST_POINTS, "smoothed"),
            _law(report.fits[0], report.curve),
            _siblings(report),
            report.diagnostics,
        )

    @property
    def spans(self) -> tuple[PhaseSpan, ...]:
        return self.ahead.phases

    @property
    def last_step(self) -> int:
        """Where the axis of steps ends."""
        return max(1, self.ahead.horizon)


def _siblings(report: ForecastReport) -> tuple[Line, ...]:
    """Each up to this run's horizon."""
    cut = [curve.upto(report.forecast.horizon) for curve in report.siblings.curves[:MOST_SIBLINGS]]
    lines = (_smooth(Series.of(curve), _MOST_SIBLING_POINTS, f"siblings ({len(report.siblings)})") for curve in cut)
    return tuple(line for line in lines if line)


def _smooth(series: Series, most: int, label: str) -> Line | None:
    if not len(series):
        return None
    return _thinned(series.steps, smoothed(series.y, max(3, series.window // 2)), most, label)


def _thinned(steps: Sequence[int], values: Sequence[float] | np.ndarray, most: int, label: str) -> Line:
    """Every so many points, the last one always."""
    every = -(-len(steps) // most)
    kept = sorted({*range(0, len(steps), every), len(steps) - 1})
    return Line(tuple(steps[i] for i in kept), tuple(float(values[i]) for i in kept), label)


def _law(fit: LawFit, curve: RewardCurve) -> Line | None:
    if not fit.params:
        return None
    series = Series.of(curve, fit.horizon)
    x = np.linspace(series.x[0], 1, _LAW_POINTS)
    with np.errstate(all="ignore"):
        levels = LAWS[fit.law].predict(x, np.array([*fit.params.values()]))
    steps = tuple(map(float, series.step_at(x)))
    return Line(steps, tuple(map(float, levels)), f"{fit.law} law, fit {fit.status.value}")
