"""Where runs will end that have not begun: from the hyperparameters of those that are over, by a Gaussian process.

y_i = m + f(x_i) + noise, f of variance v (1 - nugget) and correlation exp(-d² / 2), noise of variance v nugget plus how
uncertain final level i is. d²: squared distances in the coordinates of `Hyperparameters`, of the learning rate in
lengths of one grid, of all others together in lengths of another. m (generalised least squares) and v (its maximum) go
by each pair of lengths and nugget; predictions are averaged over the grid by marginal likelihood (Rasmussen and
Williams 2006, sections 2.7 and 5.4.1), which few runs need: one pair of lengths fitted to five runs is a guess.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from grpo_ops.law.hyperparameters import Hyperparameters
from grpo_ops.law.types import Floats

_DECADES = (0.3, 0.6, 1.2, 2.4)
_OTHERS = (0.7, 1.5, 3.0, 6.0)
_NUGGETS = (0.03, 0.1, 0.3)
_LEAST_KNOWN = 2
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Known:
    """A run that is over: its hyperparameters, its final level, and the standard error of that (a forecast's, say)."""

    params: Mapping[str, Any]
    final: float
    error: float = 0.0


def prospects(known: Sequence[Known], points: Sequence[Mapping[str, Any]]) -> tuple[Floats, Floats]:
    """Mean and standard deviation of the final level at each of `points` (hyperparameters), both (points,).

    With fewer than two known runs, or where all ended alike, every point has the same mean; the sd is then NaN or 0.
    """
    finals = np.array([run.final for run in known], dtype=np.float64)
    if len(known) < _LEAST_KNOWN or np.ptp(finals) <= _TINY * np.max(np.abs(finals)):
        level = float(finals.mean()) if len(known) else np.nan
        return np.full(len(points), level), np.full(len(points), 0.0 if len(known) >= _LEAST_KNOWN else np.nan)
    places = Hyperparameters.of([run.params for run in known] + list(points)).coordinates
    spread = float(finals.std())
    errors = np.array([run.error for run in known], dtype=np.float64) / spread
    parts = list(_predictions(places, (finals - finals.mean()) / spread, errors**2))
    weights = np.exp(np.array([evidence for _, _, evidence in parts]) - max(evidence for _, _, evidence in parts))
    weights /= weights.sum()
    means, variances = (np.array([part[index] for part in parts]) for index in (0, 1))
    mean = weights @ means
    variance = weights @ (variances + (means - mean) ** 2)
    return finals.mean() + spread * mean, spread * np.sqrt(variance)


def _predictions(places: Floats, y: Floats, errors: Floats) -> Iterator[tuple[Floats, Floats, float]]:
    """Means, variances (both (points,)) and log marginal likelihood for each setting of the grid."""
    between = places[:, None, :] - places[None, :, :]
    rate, others = np.sum(between[..., :2] ** 2, axis=-1), np.sum(between[..., 2:] ** 2, axis=-1)
    for decades, length, nugget in product(_DECADES, _OTHERS, _NUGGETS):
        alike = (1 - nugget) * np.exp(-(rate / decades**2 + others / length**2) / 2)
        yield _predicted(alike, y, nugget + errors)


def _predicted(alike: Floats, y: Floats, noise: Floats) -> tuple[Floats, Floats, float]:
    n = len(y)
    lower = np.linalg.cholesky(alike[:n, :n] + np.diag(noise))
    halves = np.linalg.solve(lower, np.column_stack([y, np.ones(n), alike[:n, n:]]))
    own, one, towards = halves[:, 0], halves[:, 1], halves[:, 2:]
    middle = float(one @ own) / float(one @ one)
    left = own - middle * one
    scale = float(left @ left) / n
    mean = middle + towards.T @ left
    slack = 1 - towards.T @ one
    variance = scale * np.maximum(1 - np.sum(towards**2, axis=0) + slack**2 / float(one @ one), 0.0)
    evidence = -0.5 * n * np.log(max(scale, _TINY)) - float(np.sum(np.log(np.diag(lower))))
    return mean, variance, evidence
