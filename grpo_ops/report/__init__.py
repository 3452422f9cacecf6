"""What people see of a forecast: text, JSON, a picture. Figures (matplotlib, plotly) are imported on use."""

import importlib
from typing import TYPE_CHECKING, Any

from grpo_ops.report.forecast_report import ForecastReport
from grpo_ops.report.hindsight import Hindsight
from grpo_ops.report.siblings import Siblings
from grpo_ops.report.sparkline import sparkline
from grpo_ops.report.text import forecast_text

if TYPE_CHECKING:
    from grpo_ops.report.figure import forecast_figure, forecasts_figure, save_png
    from grpo_ops.report.frontier import frontier_figure
    from grpo_ops.report.page import forecasts_page, save_html

__all__ = [
    "ForecastReport",
    "Hindsight",
    "Siblings",
    "forecast_figure",
    "forecast_text",
    "forecasts_figure",
    "forecasts_page",
    "frontier_figure",
    "save_html",
    "save_png",
    "sparkline",
]
_ON_USE = {
    "forecast_figure": "figure",
    "forecasts_figure": "figure",
    "save_png": "figure",
    "forecasts_page": "page",
    "frontier_figure": "frontier",
    "save_html": "page",
}


def __getattr__(name: str) -> Any:
    if name in _ON_USE:
        return getattr(importlib.import_module(f"grpo_ops.report.{_ON_USE[name]}"), name)
    raise AttributeError(f"module 'grpo_ops.report' has no attribute {name!r}")
