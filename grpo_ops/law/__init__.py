"""Reward laws: fits, forecasts, phases. Pure functions over numpy and scipy; no state, no input or output."""

from grpo_ops.law.comparison import LAWS, fit_all
from grpo_ops.law.fitting import fit
from grpo_ops.law.forecast_types import Forecast, PathPoint
from grpo_ops.law.forecasting import forecast
from grpo_ops.law.logistic import logistic
from grpo_ops.law.oscillator import damped
from grpo_ops.law.phases import PhaseSpan, phases
from grpo_ops.law.pool import Pool
from grpo_ops.law.rise_and_decline import rise_and_decline
from grpo_ops.law.saturation import exponential
from grpo_ops.law.scalerl import scalerl
from grpo_ops.law.types import FitStatus, Law, LawFit, Phase

__all__ = [
    "LAWS",
    "FitStatus",
    "Forecast",
    "Law",
    "LawFit",
    "PathPoint",
    "Phase",
    "PhaseSpan",
    "Pool",
    "damped",
    "exponential",
    "fit",
    "fit_all",
    "forecast",
    "logistic",
    "phases",
    "rise_and_decline",
    "scalerl",
]
