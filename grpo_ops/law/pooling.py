"""What a run will still gain, from the finished runs of its study: partial pooling by a Gaussian process.

Derived here. For each run i at the same progress, r_i = (final_i - recent_i - share (law_i - recent_i)) / S, with S the
study's scale, has covariance common² + different² exp(-d_ij² / 2), d_ij the distance of the two runs in level, law
forecast, gain so far and hyperparameters; plus own² and the variance of the measured levels. The finished runs' r are
known, so the run's own follows by conditioning; their fit to the prior scales the variance (Student's t).
"""

from dataclasses import dataclass

import numpy as np

from grpo_ops.law.alone import own_scale
from grpo_ops.law.constants import ALONE, POOLED, Alone, Pooled, widening
from grpo_ops.law.types import Floats

_JITTER = 1e-6


@dataclass(frozen=True, eq=False)
class Cohort:
    """Runs at the same progress, the one to be forecast first; `...` stands for any number of cohorts at once.

    now: (..., 6, 1 + siblings) standings. finals, final_variances: (..., siblings). coordinates: of hyperparameters,
    (..., 1 + siblings, axes), the first two of the learning rate. progress: 0 to 1.
    """

    now: Floats
    finals: Floats
    final_variances: Floats
    coordinates: Floats
    progress: float


def pooled(cohort: Cohort, constants: Pooled = POOLED, alone: Alone = ALONE) -> tuple[Floats, Floats, Floats]:
    """Mean and scale of the final level (Student's t), and its degrees of freedom: each (...)."""
    recent, _, start, law, _, variance = np.moveaxis(cohort.now, -2, 0)
    siblings, q = cohort.finals.shape[-1], 1 - cohort.progress
    share = constants.share_start + (constants.share_end - constants.share_start) * cohort.progress
    expected = recent + share * (law - recent)
    scale = _study_scale(cohort, recent, start, constants, alone)
    errors = (variance + _final_variances(cohort)) / scale[..., None] ** 2
    unexplained = (constants.own * q**constants.power) ** 2 + errors
    distance = _distances(cohort, (recent, law - recent, recent - start), scale, constants)
    common = (constants.common * q**constants.common_power) ** 2
    alike = common + (constants.different * q**constants.power) ** 2 * np.exp(-distance / 2)
    known = (cohort.finals - expected[..., 1:]) / scale[..., None]
    gained, spread = _conditioned(alike, unexplained, known, constants.df)
    wider = widening(constants, cohort.progress)
    return expected[..., 0] + scale * gained, wider * scale * spread, np.asarray(constants.df + siblings)


def _conditioned(alike: Floats, unexplained: Floats, known: Floats, df: float) -> tuple[Floats, Floats]:
    """Mean and scale of the first run's r given the others'."""
    siblings = known.shape[-1]
    between = alike[..., 1:, 1:] + (unexplained[..., 1:, None] + _JITTER) * np.eye(siblings)
    towards = alike[..., 0, 1:]
    solved = np.linalg.solve(between, np.stack([known, towards], axis=-1))
    variance = alike[..., 0, 0] + unexplained[..., 0] - np.sum(towards * solved[..., 1], axis=-1)
    surprise = (df + np.sum(known * solved[..., 0], axis=-1)) / (df + siblings)
    return np.sum(towards * solved[..., 0], axis=-1), np.sqrt(np.maximum(variance, 0) * surprise)


def _study_scale(cohort: Cohort, recent: Floats, start: Floats, constants: Pooled, alone: Alone) -> Floats:
    """Twice the spread of all known levels, blended with what the run's own past says. Never 0."""
    levels = np.concatenate([cohort.finals, recent, start], axis=-1)
    siblings = cohort.finals.shape[-1]
    spread = 4 * np.var(levels, axis=-1)
    own = own_scale(cohort.now[..., 0], cohort.progress, alone) ** 2
    blended = (constants.own_weight * own + siblings * spread) / (constants.own_weight + siblings)
    tiny = 1e-9 * np.max(np.abs(levels), axis=-1) + 1e-150
    return np.asarray(np.sqrt(np.maximum(blended, tiny**2)))


def _distances(cohort: Cohort, signs: tuple[Floats, ...], scale: Floats, constants: Pooled) -> Floats:
    """Squared distances d_ij², (..., 1 + siblings, 1 + siblings)."""
    near = (constants.near_level, constants.near_law, constants.near_gain)
    parts = [cohort.coordinates[..., :2] / constants.near_rate, cohort.coordinates[..., 2:] / constants.near_params]
    parts += [(values / (length * scale[..., None]))[..., None] for values, length in zip(signs, near, strict=True)]
    places = np.concatenate(parts, axis=-1)
    return np.asarray(np.sum((places[..., :, None, :] - places[..., None, :, :]) ** 2, axis=-1))


def _final_variances(cohort: Cohort) -> Floats:
    """Of each run's final level as measured; the first run's is expected to be like the others'."""
    mean = np.mean(cohort.final_variances, axis=-1, keepdims=True)
    return np.concatenate([mean, cohort.final_variances], axis=-1)
