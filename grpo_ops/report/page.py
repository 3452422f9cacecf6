"""Forecasts as one HTML file that needs no network: what figure.py draws, with numbers on hover. Plotly."""

import html
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import plotly.graph_objects as go  # type: ignore[import-untyped]
from plotly.subplots import make_subplots  # type: ignore[import-untyped]

from grpo_ops.law import Forecast
from grpo_ops.law.diagnostics import Finding
from grpo_ops.report.colors import BAND, LAW, PHASES, POINT, QUIET, SEVERITIES, SIBLING, SMOOTH
from grpo_ops.report.forecast_report import ForecastReport
from grpo_ops.report.sketch import Line, Sketch

_HEIGHT, _MOST_COLUMNS, _HOVER_WIDTH = 340, 3, 60
_SINGLE_HEIGHT = 480
_MARGIN_TOP, _MARGIN_BOTTOM, _ABOVE_TITLES = 120, 50, 30
_PHASE_OPACITY = 0.15
_CONFIG = {"displaylogo": False, "responsive": True}


def forecasts_page(reports: Sequence[ForecastReport]) -> go.Figure:
    """One picture a report, in a grid; clicking in the legend hides a kind of line in all of them."""
    sketches = [Sketch.of(report) for report in reports]
    columns = min(_MOST_COLUMNS, len(sketches))
    rows = -(-len(sketches) // columns)
    titles = [html.escape(sketch.title) for sketch in sketches]
    gap = min(0.12, 0.3 / rows)
    figure = make_subplots(rows, columns, subplot_titles=titles, vertical_spacing=gap, horizontal_spacing=0.06)
    for index, sketch in enumerate(sketches):
        _Panel(figure, index // columns + 1, index % columns + 1, sketch).draw()
    _finish(figure, rows)
    return figure


def save_html(figure: go.Figure, path: str | Path) -> Path:
    """Write `figure` to `path` with plotly.js inside and return the path."""
    text = figure.to_html(include_plotlyjs=True, config=_CONFIG, full_html=True)
    Path(path).write_text(text, encoding="utf-8")
    return Path(path)


class _Panel:
    """One picture of the grid."""

    def __init__(self, figure: go.Figure, row: int, column: int, sketch: Sketch) -> None:
        self._figure, self._sketch = figure, sketch
        self._place = {"row": row, "col": column}
        self._known = {str(trace.legendgroup) for trace in figure.data}

    def draw(self) -> None:
        """Everything, what lies below first."""
        sketch = self._sketch
        self._phases()
        for line in sketch.siblings:
            self._line(line, "siblings", SIBLING, width=0.8, hoverinfo="skip", hovertemplate=None)
        self._line(sketch.points, "reward", POINT, mode="markers", marker={"size": 4, "color": POINT})
        self._line(sketch.smooth, "smoothed", SMOOTH, width=1.8)
        self._line(sketch.law, "best law", LAW, width=1.8, dash="dash")
        self._forecast(sketch.ahead)
        self._findings(sketch.findings)
        self._figure.update_xaxes(range=[0, sketch.last_step * 1.02], title_text="step", **self._place)
        self._figure.update_yaxes(title_text="reward", **self._place)

    def _line(self, line: Line | None, group: str, color: str, mode: str = "lines", **look: Any) -> None:
        if line is None:
            return
        if mode == "lines":
            look["line"] = {"color": color, "width": look.pop("width"), "dash": look.pop("dash", "solid")}
        look.setdefault("hovertemplate", f"{line.label} %{{y:.4g}} at step %{{x:.0f}}<extra></extra>")
        self._add(go.Scatter(x=line.steps, y=line.values, mode=mode, name=line.label, **look), group)

    def _add(self, trace: go.Scatter, group: str) -> None:
        """With one entry a group in the legend."""
        trace.update(legendgroup=group, showlegend=group not in self._known)
        self._known.add(group)
        self._figure.add_trace(trace, **self._place)

    def _phases(self) -> None:
        """A coloured span each, and its square in the legend: a shape of the layout has no entry of its own."""
        for span in self._sketch.spans:
            color, name = PHASES[span.phase], f"phase: {span.phase.value}"
            look = {"fillcolor": color, "opacity": _PHASE_OPACITY, "line_width": 0, "layer": "below"}
            look["exclude_empty_subplots"] = False  # by default the first span of a picture would be dropped
            self._figure.add_vrect(x0=span.start, x1=span.end, **look, **self._place)
            square = {"symbol": "square", "size": 12, "color": color, "opacity": 2 * _PHASE_OPACITY}
            self._add(go.Scatter(x=[None], y=[None], mode="markers", marker=square, name=name), name)

    def _forecast(self, ahead: Forecast) -> None:
        if len(ahead.path) < 2:
            return
        steps = [point.step for point in ahead.path]
        mean, low, high = ([getattr(point, which) for point in ahead.path] for which in ("mean", "low", "high"))
        band = f"{100 * ahead.level:g} % band of the level"
        edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
        self._add(go.Scatter(x=steps, y=high, **edge), "edge of the band")
        self._figure.data[-1].update(showlegend=False, legendgroup="band")
        self._add(
            go.Scatter(x=steps, y=low, fill="tonexty", fillcolor="rgba(0,114,178,0.18)", name=band, **edge), "band"
        )
        hover = "forecast %{y:.4g} (%{customdata[0]:.4g} to %{customdata[1]:.4g}) at step %{x}<extra></extra>"
        look = {"mode": "lines", "line": {"color": BAND, "width": 2.2}, "name": "forecast", "hovertemplate": hover}
        self._add(go.Scatter(x=steps, y=mean, customdata=list(zip(low, high, strict=True)), **look), "forecast")

    def _findings(self, findings: Sequence[Finding]) -> None:
        if not findings:
            return
        heights = self._heights(findings)
        colors = [SEVERITIES[finding.severity] for finding in findings]
        self._add(
            go.Scatter(
                x=[finding.since_step for finding in findings],
                y=heights,
                mode="markers+text",
                marker={"symbol": "triangle-up", "size": 11, "color": colors},
                text=[finding.symptom.value for finding in findings],
                textposition=[self._side(finding) for finding in findings],
                textfont={"color": colors, "size": 11},
                hovertext=[_hover(finding) for finding in findings],
                hoverinfo="text",
                name="findings",
            ),
            "findings",
        )

    def _heights(self, findings: Sequence[Finding]) -> list[float]:
        """One above the other from the lowest value on."""
        ahead, points = self._sketch.ahead, self._sketch.points
        values = [*(points.values if points else ()), *(p.low for p in ahead.path), *(p.high for p in ahead.path)]
        low, high = min(values), max(values)
        return [low + 0.06 * index * (high - low) for index in range(len(findings))]

    def _side(self, finding: Finding) -> str:
        return "middle left" if finding.since_step > 0.55 * self._sketch.last_step else "middle right"


def _hover(finding: Finding) -> str:
    head = f"<b>{finding.severity.value}: {finding.symptom.value}</b>, since step {finding.since_step}"
    sentences = (finding.evidence, f"Cost: {finding.cost}", f"Try: {finding.advice}")
    return "<br>".join([head, *(html.escape(line) for one in sentences for line in textwrap.wrap(one, _HOVER_WIDTH))])


def _finish(figure: go.Figure, rows: int) -> None:
    inner = _SINGLE_HEIGHT if rows == 1 else _HEIGHT * rows
    figure.update_layout(
        template="simple_white",
        height=inner + _MARGIN_TOP + _MARGIN_BOTTOM,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1 + _ABOVE_TITLES / inner, "x": 0},
        margin={"l": 60, "r": 20, "t": _MARGIN_TOP, "b": _MARGIN_BOTTOM},
        font={"color": QUIET},
        hovermode="closest",
    )
    figure.update_xaxes(showgrid=True, gridcolor="#EEEEEE")
    figure.update_yaxes(showgrid=True, gridcolor="#EEEEEE")
    figure.update_annotations(font_size=12)
