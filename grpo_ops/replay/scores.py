"""How good a probabilistic forecast was, once the truth is known."""

from dataclasses import dataclass

import numpy as np
from scipy.special import beta, ndtr, stdtr

from grpo_ops.law import Forecast
from grpo_ops.law.types import Floats


@dataclass(frozen=True, slots=True)
class Score:
    """error: |mean - truth|; crps; covered: 1 if the band holds the truth; width of the band. In the source's units."""

    error: float
    crps: float
    covered: float
    width: float


def scored(found: Forecast, truth: float, unit: float) -> Score:
    """A forecast's score; one without a band counts as a point."""
    if not found.sd > 0:
        return point(found.mean, truth, unit)
    crps = float(crps_t(found.mean, found.scale, found.df, truth))
    covered = float(found.low <= truth <= found.high)
    return Score(abs(found.mean - truth) / unit, crps / unit, covered, (found.high - found.low) / unit)


def point(value: float, truth: float, unit: float) -> Score:
    """The score of a forecast without a band: its CRPS is its error."""
    error = abs(value - truth) / unit
    return Score(error, error, float(error == 0), 0.0)


def normal(mean: float, sd: float, reach: float, truth: float, unit: float) -> Score:
    """The score of a normal forecast whose band reaches `reach` to either side."""
    if not sd > 0:
        return point(mean, truth, unit)
    error = abs(mean - truth)
    return Score(error / unit, float(crps_normal(mean, sd, truth)) / unit, float(error <= reach), 2 * reach / unit)


def crps_normal(mean: Floats | float, sd: Floats | float, truth: Floats | float) -> Floats:
    """CRPS of N(mean, sd²): sd (z (2 Phi(z) - 1) + 2 phi(z) - 1 / sqrt(pi)), z = (truth - mean) / sd.

    Source: Gneiting and Raftery 2007, "Strictly Proper Scoring Rules", section 4.2. At z = 0 and sd = 1: 0.2337.
    """
    z = (truth - mean) / sd
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(sd * (z * (2 * ndtr(z) - 1) + 2 * density - 1 / np.sqrt(np.pi)))


def crps_t(mean: Floats | float, scale: Floats | float, df: float, truth: Floats | float) -> Floats:
    """CRPS of Student's t with more than one degree of freedom, shifted and scaled, of one forecast or of many (...).

    Infinite df is the normal.
    Source: Jordan, Krüger and Lerch 2019, "Evaluating Probabilistic Forecasts with scoringRules", appendix A.
    """
    if np.isinf(df):
        return crps_normal(mean, scale, truth)
    z = (truth - mean) / scale
    density = (1 + z**2 / df) ** (-(df + 1) / 2) / (np.sqrt(df) * beta(0.5, df / 2))
    constant = 2 * np.sqrt(df) / (df - 1) * beta(0.5, df - 0.5) / beta(0.5, df / 2) ** 2
    return np.asarray(scale * (z * (2 * stdtr(df, z) - 1) + 2 * density * (df + z**2) / (df - 1) - constant))
