"""The picture of a forecast: points, smoothed line, fitted law, band to the horizon. Matplotlib, no global state."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from grpo_ops.law import Forecast, LawFit, exponential
from grpo_ops.law.series import Series, smoothed
from grpo_ops.report.forecast_report import ForecastReport

# Okabe and Ito's colours: told apart with any kind of colour vision, and by their lightness in print.
_POINT, _SMOOTH, _LAW, _BAND, _MARK, _QUIET = "#999999", "#000000", "#E69F00", "#0072B2", "#D55E00", "#666666"
_MOST_POINTS = 4000


def forecast_figure(report: ForecastReport, *, decision_step: int | None = None, decision: str = "stopped") -> Figure:
    """The forecast of `report` as a figure of 8 x 4.5 inches. decision_step: where a trial was stopped, and why."""
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    _draw_curve(axes, report)
    _draw_law(axes, report.fits)
    _draw_forecast(axes, report.forecast)
    _draw_marks(axes, report.forecast, decision_step, decision)
    _finish(axes, report)
    return figure


def save_png(figure: Figure, path: str | Path, dpi: int = 150) -> Path:
    """Write `figure` to `path` as PNG and return the path."""
    figure.savefig(path, format="png", dpi=dpi)
    return Path(path)


def _draw_curve(axes: Axes, report: ForecastReport) -> None:
    series = Series.of(report.curve, report.forecast.horizon)
    if not len(series):
        return
    every = max(1, len(series) // _MOST_POINTS)
    axes.plot(
        series.steps[::every], series.y[::every], ".", color=_POINT, ms=4.5, alpha=0.8, mec="none", label="reward"
    )
    smooth = smoothed(series.y, max(3, series.window // 2))
    axes.plot(series.steps[::every], smooth[::every], color=_SMOOTH, lw=1.6, label="smoothed")


def _draw_law(axes: Axes, fits: tuple[LawFit, ...]) -> None:
    for fit in fits:
        if fit.params and fit.law == exponential.name:
            x = np.linspace(0, 1, 200)
            levels = exponential.predict(x, np.array([*fit.params.values()]))
            axes.plot(x * fit.horizon, levels, "--", color=_LAW, lw=1.6, label=f"{fit.law} law, fit {fit.status.value}")


def _draw_forecast(axes: Axes, ahead: Forecast) -> None:
    if len(ahead.path) < 2:
        return
    steps = [point.step for point in ahead.path]
    low, high = [point.low for point in ahead.path], [point.high for point in ahead.path]
    axes.fill_between(
        steps, low, high, color=_BAND, alpha=0.18, lw=0, label=f"{100 * ahead.level:g} % band of the level"
    )
    axes.plot(steps, [point.mean for point in ahead.path], color=_BAND, lw=2, label="forecast")
    half = [[ahead.mean - ahead.low], [ahead.high - ahead.mean]]
    axes.errorbar([ahead.horizon], [ahead.mean], yerr=half, fmt="o", color=_BAND, ms=5, capsize=4, lw=1.6)
    text = f"{ahead.mean:.3g}\n{ahead.low:.3g} to {ahead.high:.3g}"
    place: dict[str, Any] = {"xytext": (9, 0), "textcoords": "offset points", "va": "center", "annotation_clip": False}
    axes.annotate(text, (ahead.horizon, ahead.mean), color=_BAND, fontsize=9, **place)


def _draw_marks(axes: Axes, ahead: Forecast, decision_step: int | None, decision: str) -> None:
    if len(ahead.path) >= 2 and decision_step != ahead.step:
        _mark(axes, ahead.step, f"now: {ahead.phase.value}", _QUIET, "right")
    if ahead.plateau_step is not None:
        _mark(axes, ahead.plateau_step, "95 % of the gain", _QUIET, "left")
    if decision_step is not None:
        _mark(axes, decision_step, decision, _MARK, "right")


def _mark(axes: Axes, step: int, text: str, color: str, side: str) -> None:
    axes.axvline(step, color=color, lw=1, ls=":")
    place: dict[str, Any] = {
        "xytext": (-4 if side == "right" else 4, 4),
        "textcoords": "offset points",
        "ha": side,
        "va": "bottom",
    }
    axes.annotate(text, (step, 0), xycoords=axes.get_xaxis_transform(), color=color, fontsize=9, **place)


def _finish(axes: Axes, report: ForecastReport) -> None:
    ahead = report.forecast
    axes.set_title(f"{report.name}: step {ahead.step} of {ahead.horizon}", loc="left", fontsize=11)
    axes.set_xlabel("step")
    axes.set_ylabel("reward")
    axes.set_xlim(0, max(1, ahead.horizon))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, lw=0.6)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", fontsize=9, frameon=False)
