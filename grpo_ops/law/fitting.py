"""fit(): one law to one curve, robustly, weighted, from several starting points, within bounds."""

import math
from typing import Literal

import numpy as np

from grpo_ops.curve import RewardCurve
from grpo_ops.errors import LawError
from grpo_ops.law.covariance import Correlation, bootstrap, correlation, hessian
from grpo_ops.law.optimum import Optimum, best
from grpo_ops.law.problem import Problem
from grpo_ops.law.sample import Sample
from grpo_ops.law.saturation import exponential
from grpo_ops.law.series import Series, smoothed
from grpo_ops.law.types import FitStatus, Floats, Law, LawFit

CovarianceMethod = Literal["hessian", "bootstrap"]
_METHODS = {"hessian": hessian, "bootstrap": bootstrap}
_GOOD_R2 = 0.8
_SPARE_POINTS = 3
_PERFECT = 1e-24


def fit(curve: RewardCurve, law: Law = exponential, covariance: CovarianceMethod = "hessian") -> LawFit:
    """`law` fitted to the whole of `curve`, with progress measured against its planned last step.

    Soft L1 loss beyond two standard deviations of the noise, so that single outliers count little; a point counts by
    the steps that it averages (those since the point before, see sample.py). The fit of -R is the mirror image of
    the fit of R, and shift and scale of the reward pass through to the levels. AICc is n ln(RSS / n) with the small
    sample term, RSS the weighted squares of all residuals, outliers and all, in units of the curve's spread.
    covariance: hessian, about a millisecond, or bootstrap (covariance.py says what each allows for).
    A curve that is too short, constant or does not fit gets a status; POOR is an R² against the smoothed curve below
    0.8. Raises LawError for an unknown covariance, nothing else.
    """
    if covariance not in _METHODS:
        raise LawError(f"covariance must be one of {', '.join(_METHODS)} but got {covariance!r}")
    series = Series.of(curve)
    if len(series) < len(law.names) + _SPARE_POINTS:
        return _without(series, law, FitStatus.TOO_FEW_POINTS)
    # At the limits of floating point an overflow or underflow is a number like any other: it ends as inf, 0 or None.
    with np.errstate(all="ignore"):
        if series.is_constant:
            return _without(series, law, FitStatus.CONSTANT)
        problem = Problem.of(law, Sample.of(series))
        found = best(problem)
        return _without(series, law, FitStatus.FAILED) if found is None else _fitted(series, problem, found, covariance)


def _fitted(series: Series, problem: Problem, found: Optimum, method: CovarianceMethod) -> LawFit:
    law, sample, correlated = problem.law, problem.sample, correlation(problem, found)
    residuals = sample.full_y - law.predict(sample.full_x, problem.params(found.u))
    smooth = smoothed(sample.full_y, series.window)
    r2_smoothed = _r2(smooth, smooth - sample.full_y + residuals)
    return LawFit(
        law=law.name,
        status=FitStatus.OK if r2_smoothed >= _GOOD_R2 else FitStatus.POOR,
        n=len(series),
        horizon=series.horizon,
        params=dict(zip(law.names, map(float, _rewards(problem, problem.params(found.u))), strict=True)),
        covariance=_covariance(problem, found, correlated, method),
        noise=sample.unit * sample.spread * float(np.sqrt(np.sum(residuals**2) / (len(series) - len(law.names)))),
        r2=_r2(sample.full_y, residuals),
        r2_smoothed=r2_smoothed,
        aicc=_aicc(problem, found),
        covariance_method=method,
        dof=correlated.dof,
        scales=law.scales,
        at_bound=tuple(name for name, pinned in zip(law.names, found.pinned, strict=True) if pinned),
    )


def _rewards(problem: Problem, p: Floats) -> Floats:
    """p in units of the reward."""
    sample, levels = problem.sample, problem.law.levels
    return p * _units(problem) + np.where(np.arange(len(p)) < levels, sample.origin * sample.unit, 0.0)


def _units(problem: Problem) -> Floats:
    """What one unit of the fit is worth in each parameter: the spread for levels and gains, else 1."""
    sample, linear = problem.sample, problem.law.levels + problem.law.gains
    return np.where(np.arange(len(problem.law.names)) < linear, sample.spread * sample.unit, 1.0)


def _covariance(
    problem: Problem, found: Optimum, correlated: Correlation, method: CovarianceMethod
) -> tuple[tuple[float, ...], ...]:
    stretch = _units(problem) * problem.slopes(found.u)
    matrix = stretch[:, None] * _METHODS[method](problem, found, correlated) * stretch
    return tuple(tuple(map(float, row)) for row in matrix)


def _aicc(problem: Problem, found: Optimum) -> float:
    """n ln(RSS / n) + 2 k + 2 k (k + 1) / (n - k - 1); the noise is one of the k parameters."""
    residuals = problem.tolerance * problem.residuals(found.u)
    n, k = len(residuals), len(found.u) + 1
    mean_square = max(float(np.mean(residuals**2)), _PERFECT)
    return n * math.log(mean_square) + 2 * k + 2 * k * (k + 1) / (n - k - 1)


def _r2(y: Floats, residuals: Floats) -> float:
    total = float(np.sum((y - np.mean(y)) ** 2))
    return 1 - float(np.sum(residuals**2)) / total if total > 0 else float("nan")


def _without(series: Series, law: Law, status: FitStatus) -> LawFit:
    return LawFit(law.name, status, len(series), series.horizon)
