"""What people see of a forecast: text, JSON, a picture. Figures (matplotlib) are imported on use."""

from typing import TYPE_CHECKING, Any

from grpo_ops.report.forecast_report import ForecastReport
from grpo_ops.report.sparkline import sparkline
from grpo_ops.report.text import forecast_text

if TYPE_CHECKING:
    from grpo_ops.report.figure import forecast_figure, save_png

__all__ = ["ForecastReport", "forecast_figure", "forecast_text", "save_png", "sparkline"]


def __getattr__(name: str) -> Any:
    if name in ("forecast_figure", "save_png"):
        from grpo_ops.report import figure

        return getattr(figure, name)
    raise AttributeError(f"module 'grpo_ops.report' has no attribute {name!r}")
