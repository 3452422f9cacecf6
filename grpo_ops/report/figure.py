"""The picture of a forecast: points, smoothed line, best law, phases, band, findings. Matplotlib, no global state."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from grpo_ops.law import Forecast
from grpo_ops.law.diagnostics import Finding
from grpo_ops.report.colors import BAND, LAW, MARK, PHASES, POINT, QUIET, SEVERITIES, SIBLING, SMOOTH
from grpo_ops.report.forecast_report import ForecastReport
from grpo_ops.report.sketch import Sketch

_PANEL = (4.6, 2.8)
_MOST_COLUMNS = 4
_ON_A_LINE = 4
_PHASE_ALPHA = 0.13
_LATE = 0.6
_MOST_PIXELS = 60_000  # matplotlib refuses 2**16 and more


def forecast_figure(report: ForecastReport, *, decision_step: int | None = None, decision: str = "stopped") -> Figure:
    """The forecast of `report` as a figure of 8 x 5 inches. decision_step: where a trial was stopped, and why."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes, sketch = figure.add_subplot(), Sketch.of(report)
    _draw(axes, sketch)
    _draw_marks(axes, sketch.ahead, decision_step, decision)
    _annotate_end(axes, sketch.ahead)
    _legend(figure, _ON_A_LINE)
    return figure


def forecasts_figure(reports: Sequence[ForecastReport]) -> Figure:
    """Several forecasts as small pictures on one page, with one legend; a single one as forecast_figure draws it."""
    if len(reports) == 1:
        return forecast_figure(reports[0])
    columns = min(_MOST_COLUMNS, max(2, round(len(reports) ** 0.5)))
    rows = -(-len(reports) // columns)
    figure = Figure(figsize=(_PANEL[0] * columns, _PANEL[1] * rows + 0.6), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, report in zip(grid, reports, strict=False):
        _draw(axes, Sketch.of(report), size=0.75)
    for axes in grid[len(reports) :]:
        axes.set_axis_off()
    _legend(figure, 2 * columns)
    return figure


def save_png(figure: Figure, path: str | Path, dpi: int = 150) -> Path:
    """Write `figure` to `path` as PNG and return the path."""
    figure.savefig(path, format="png", dpi=min(dpi, _MOST_PIXELS / max(figure.get_size_inches())))
    return Path(path)


def _draw(axes: Axes, sketch: Sketch, size: float = 1.0) -> None:
    _draw_phases(axes, sketch)
    _draw_lines(axes, sketch, size)
    _draw_forecast(axes, sketch.ahead, size)
    for row, finding in enumerate(sketch.findings):
        _draw_finding(axes, finding, row, sketch.last_step, size)
    _finish(axes, sketch, size)


def _draw_phases(axes: Axes, sketch: Sketch) -> None:
    for span in sketch.spans:
        axes.axvspan(
            span.start, span.end, color=PHASES[span.phase], alpha=_PHASE_ALPHA, lw=0, label=f"phase: {span.phase.value}"
        )


def _draw_lines(axes: Axes, sketch: Sketch, size: float) -> None:
    for line in sketch.siblings:
        axes.plot(line.steps, line.values, color=SIBLING, lw=0.6 * size, alpha=size**2, label=line.label)
    if points := sketch.points:
        axes.plot(
            points.steps, points.values, ".", color=POINT, ms=4.5 * size, alpha=0.8, mec="none", label=points.label
        )
    if smooth := sketch.smooth:
        axes.plot(smooth.steps, smooth.values, color=SMOOTH, lw=1.6 * size, label=smooth.label)
    if law := sketch.law:
        label = law.label if size == 1 else "best law"
        axes.plot(law.steps, law.values, "--", color=LAW, lw=1.6 * size, label=label)


def _draw_forecast(axes: Axes, ahead: Forecast, size: float) -> None:
    if len(ahead.path) < 2:
        return
    steps = [point.step for point in ahead.path]
    low, high = [point.low for point in ahead.path], [point.high for point in ahead.path]
    axes.fill_between(
        steps, low, high, color=BAND, alpha=0.18, lw=0, label=f"{100 * ahead.level:g} % band of the level"
    )
    axes.plot(steps, [point.mean for point in ahead.path], color=BAND, lw=2 * size, label="forecast")
    half = [[ahead.mean - ahead.low], [ahead.high - ahead.mean]]
    axes.errorbar(
        [ahead.horizon],
        [ahead.mean],
        yerr=half,
        fmt="o",
        clip_on=False,
        color=BAND,
        ms=5 * size,
        capsize=4,
        lw=1.6 * size,
    )


def _draw_finding(axes: Axes, finding: Finding, row: int, last_step: int, size: float) -> None:
    """A triangle on the lower edge where it began; findings stand above each other."""
    height, is_late = 0.035 + 0.06 * row / size, finding.since_step > _LATE * last_step
    color, across = SEVERITIES[finding.severity], axes.get_xaxis_transform()
    axes.plot([finding.since_step], [height], "^", color=color, ms=6 * size, transform=across, clip_on=False, zorder=4)
    place: dict[str, Any] = {"ha": "right" if is_late else "left", "va": "center", "textcoords": "offset points"}
    place["path_effects"] = [withStroke(linewidth=2.5, foreground="white")]
    side = (-6 if is_late else 6, 0)
    axes.annotate(
        finding.symptom.value,
        (finding.since_step, height),
        side,
        xycoords=across,
        color=color,
        fontsize=8 * size,
        **place,
    )


def _annotate_end(axes: Axes, ahead: Forecast) -> None:
    if len(ahead.path) < 2:
        return
    text = f"{ahead.mean:.3g}\n{ahead.low:.3g} to {ahead.high:.3g}"
    place: dict[str, Any] = {"xytext": (9, 0), "textcoords": "offset points", "va": "center", "annotation_clip": False}
    axes.annotate(text, (ahead.horizon, ahead.mean), color=BAND, fontsize=9, **place)


def _draw_marks(axes: Axes, ahead: Forecast, decision_step: int | None, decision: str) -> None:
    if len(ahead.path) >= 2 and decision_step != ahead.step:
        _mark(axes, ahead.step, f"now: {ahead.phase.value}", QUIET, "right")
    if ahead.plateau_step is not None:
        is_late = ahead.plateau_step > _LATE * ahead.horizon
        _mark(axes, ahead.plateau_step, "95 % of the gain", QUIET, "right" if is_late else "left")
    if decision_step is not None:
        _mark(axes, decision_step, decision, MARK, "right")


def _mark(axes: Axes, step: int, text: str, color: str, side: str) -> None:
    axes.axvline(step, color=color, lw=1, ls=":")
    place: dict[str, Any] = {
        "xytext": (-4 if side == "right" else 4, -3),
        "textcoords": "offset points",
        "ha": side,
        "va": "top",
    }
    axes.annotate(text, (step, 1), xycoords=axes.get_xaxis_transform(), color=color, fontsize=9, **place)


def _finish(axes: Axes, sketch: Sketch, size: float) -> None:
    axes.set_title(sketch.title[-round(80 * size) :], loc="left", fontsize=11 * size)
    axes.set_xlabel("step", fontsize=10 * size)
    axes.set_ylabel("reward", fontsize=10 * size)
    axes.tick_params(labelsize=9 * size)
    axes.set_xlim(0, sketch.last_step)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, lw=0.6)


def _legend(figure: Figure, columns: int) -> None:
    """Below the pictures, each label once."""
    pairs = [axes.get_legend_handles_labels() for axes in figure.axes]
    known = {label: handle for handles, labels in pairs for handle, label in zip(handles, labels, strict=True)}
    if known:
        figure.legend(
            list(known.values()), list(known), loc="outside lower center", ncols=columns, fontsize=9, frameon=False
        )
