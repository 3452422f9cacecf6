"""Scores of many forecasts at once."""

import numpy as np
from scipy.special import beta, stdtr

#: A forecast that is certain has the CRPS of a point.
TINY = 1e-9


def crps_t(mean: np.ndarray, scale: np.ndarray, df: float, truth: np.ndarray) -> np.ndarray:
    """grpo_ops.replay.scores.crps_t over arrays."""
    scale = np.maximum(scale, TINY)
    z = (truth - mean) / scale
    density = (1 + z**2 / df) ** (-(df + 1) / 2) / (np.sqrt(df) * beta(0.5, df / 2))
    constant = 2 * np.sqrt(df) / (df - 1) * beta(0.5, df - 0.5) / beta(0.5, df / 2) ** 2
    return scale * (z * (2 * stdtr(df, z) - 1) + 2 * density * (df + z**2) / (df - 1) - constant)
