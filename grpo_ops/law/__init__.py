"""Reward laws: fits, forecasts, phases. Pure functions over numpy and scipy; no state, no input or output."""

from grpo_ops.law.fitting import fit
from grpo_ops.law.forecast_types import Forecast, PathPoint
from grpo_ops.law.forecasting import forecast
from grpo_ops.law.saturation import exponential
from grpo_ops.law.types import FitStatus, Law, LawFit, Phase

__all__ = ["FitStatus", "Forecast", "Law", "LawFit", "PathPoint", "Phase", "exponential", "fit", "forecast"]
