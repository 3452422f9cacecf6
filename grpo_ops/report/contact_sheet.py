"""Contact sheets: many curves on a page, each with its fit, an early forecast and its phases. Matplotlib, no state."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from grpo_ops.curve import RewardCurve
from grpo_ops.law import Forecast, LawFit, exponential, fit, forecast
from grpo_ops.law.phases import PhaseSpan, phases
from grpo_ops.law.series import Series, trailing_mean
from grpo_ops.report.colors import PHASES

_POINT, _MEAN, _LAW, _BAND = "#666666", "#000000", "#CC79A7", "#0072B2"
_MOST_POINTS = 1000
_PANEL = (2.6, 1.7)


@dataclass(frozen=True)
class Panel:
    """What is drawn of one curve. ahead: the forecast made at an early share of it, None where nothing is known."""

    name: str
    curve: RewardCurve
    law: LawFit
    ahead: Forecast | None
    spans: tuple[PhaseSpan, ...]

    @classmethod
    def of(cls, name: str, curve: RewardCurve, upto: float = 0.3) -> "Panel":
        """`curve` with its law, its phases, and its end as forecast from the first `upto` of its points."""
        early = curve.head(max(1, round(upto * len(curve))))
        ahead = forecast(early, horizon=max(1, curve.steps[-1])) if len(curve) > 1 else None
        return cls(name, curve, fit(curve, exponential), ahead, phases(curve))


def contact_sheet(panels: Sequence[Panel], columns: int = 6, rows: int = 9) -> list[Figure]:
    """Pages of `columns` x `rows` panels, each page with the legend on top."""
    size = columns * rows
    return [_page(panels[first : first + size], columns, rows) for first in range(0, len(panels), size)]


def _page(panels: Sequence[Panel], columns: int, rows: int) -> Figure:
    rows = min(rows, -(-len(panels) // columns))
    figure = Figure(figsize=(_PANEL[0] * columns, _PANEL[1] * rows + 0.5), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, panel in zip(grid, panels, strict=False):
        _draw(axes, panel)
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    figure.legend(handles=_legend(), loc="outside upper center", ncols=9, fontsize=8, frameon=False)
    return figure


def _draw(axes: Axes, panel: Panel) -> None:
    _draw_phases(axes, panel.spans)
    if len(panel.curve):
        _draw_curve(axes, panel.curve)
        axes.set_xlim(panel.curve.steps[0], panel.curve.steps[-1] + 1)
    if panel.ahead is not None:
        _draw_forecast(axes, panel.ahead)
    axes.autoscale(False)
    _draw_law(axes, panel)
    axes.set_title(panel.name[-48:], fontsize=5.5, loc="left", pad=2)
    axes.tick_params(labelsize=5, length=2, pad=1)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_phases(axes: Axes, spans: tuple[PhaseSpan, ...]) -> None:
    for span in spans:
        axes.axvspan(span.start, span.end, color=PHASES[span.phase], alpha=0.15 + 0.2 * span.confidence, lw=0)


def _draw_curve(axes: Axes, curve: RewardCurve) -> None:
    series = Series.of(curve)
    every = max(1, len(series) // _MOST_POINTS)
    axes.plot(series.steps[::every], series.y[::every], ".", color=_POINT, ms=2.8, mec="none", alpha=0.8)
    mean = trailing_mean(series.y, max(3, len(series) // 15))
    axes.plot(series.steps[::every], mean[::every], color=_MEAN, lw=0.9)


def _draw_law(axes: Axes, panel: Panel) -> None:
    if panel.law.params:
        x = np.linspace(0, 1, 200)
        levels = exponential.predict(x, np.array([*panel.law.params.values()]))
        axes.plot(Series.of(panel.curve).step_at(x), levels, "--", color=_LAW, lw=0.9)


def _draw_forecast(axes: Axes, ahead: Forecast) -> None:
    steps = [point.step for point in ahead.path]
    low, high = [point.low for point in ahead.path], [point.high for point in ahead.path]
    if len(steps) > 1:
        axes.fill_between(steps, low, high, facecolor="none", edgecolor=_BAND, lw=0.8)


def _legend() -> list[Patch | Line2D]:
    lines = {"reward": (".", _POINT), "trailing mean": ("-", _MEAN), "law": ("--", _LAW), "early band": ("-", _BAND)}
    drawn = [
        Line2D([], [], color=color, ls="" if style == "." else style, marker="." if style == "." else "", label=label)
        for label, (style, color) in lines.items()
    ]
    return [*(Patch(color=color, alpha=0.35, label=phase.value) for phase, color in PHASES.items()), *drawn]
