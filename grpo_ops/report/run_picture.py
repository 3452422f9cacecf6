"""The picture of a run that is over, as the sweep asks for it."""

from pathlib import Path

from grpo_ops.report.figure import forecast_figure, save_png
from grpo_ops.report.forecast_report import ForecastReport
from grpo_ops.sweep.close import Picture


def draw_run(picture: Picture, path: Path) -> None:
    """Draw the judged curve, its forecast and the judge's decision into the PNG file at `path`."""
    report = ForecastReport.of(picture.curve, name=picture.title)
    save_png(forecast_figure(report, decision_step=picture.decision_step, decision=picture.ending), path)
