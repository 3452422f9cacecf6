"""fit(): least squares of one law to one curve, from several starting points, within bounds."""

from typing import Any

import numpy as np

from grpo_ops.curve import RewardCurve
from grpo_ops.law.saturation import exponential
from grpo_ops.law.series import Series, smoothed, thinned
from grpo_ops.law.types import FitStatus, Floats, Law, LawFit

_GOOD_R2 = 0.8
_SPARE_POINTS = 2
_MOST_POINTS = 2048


def fit(curve: RewardCurve, law: Law = exponential) -> LawFit:
    """`law` fitted to the whole of `curve`, with progress measured against its planned last step.

    The covariance is noise² inv(J'J) at the optimum (Gauss-Newton Hessian, independent noise): too small where the
    noise is correlated. A curve that is too short, constant or does not fit gets a status; nothing is raised.
    """
    series = Series.of(curve)
    if len(series) < len(law.names) + _SPARE_POINTS:
        return _without(series, law, FitStatus.TOO_FEW_POINTS)
    if series.is_constant:
        return _without(series, law, FitStatus.CONSTANT)
    found = _best(law, *_normalised(series))
    return _without(series, law, FitStatus.FAILED) if found is None else _fitted(series, law, found)


def _normalised(series: Series) -> tuple[Floats, Floats]:
    block = -(-len(series) // _MOST_POINTS)
    return thinned(series.x, block), thinned(series.y, block)


def _best(law: Law, x: Floats, y: Floats) -> Any:
    from scipy.optimize import least_squares

    low, high = law.bounds(x, y)
    runs = []
    for start in law.guess(x, y):
        inside = np.clip(start, low + 1e-9 * (high - low), high - 1e-9 * (high - low))
        runs.append(least_squares(lambda p: law.predict(x, p) - y, inside, bounds=(low, high), x_scale=high - low))
    good = [run for run in runs if np.all(np.isfinite(run.x)) and np.isfinite(run.cost)]
    return min(good, key=lambda run: run.cost, default=None)


def _fitted(series: Series, law: Law, found: Any) -> LawFit:
    residuals = series.y - law.predict(series.x, found.x)
    noise = float(np.sqrt(np.sum(residuals**2) / (len(series) - len(law.names))))
    smooth = smoothed(series.y, series.window)
    r2_smoothed = _r2(smooth, smooth - law.predict(series.x, found.x))
    return LawFit(
        law=law.name,
        status=FitStatus.OK if r2_smoothed >= _GOOD_R2 else FitStatus.POOR,
        n=len(series),
        horizon=series.horizon,
        params=dict(zip(law.names, map(float, found.x), strict=True)),
        covariance=_covariance(found.jac * np.sqrt(len(series) / len(found.fun)), noise),
        noise=noise,
        r2=_r2(series.y, residuals),
        r2_smoothed=r2_smoothed,
    )


def _covariance(jacobian: Floats, noise: float) -> tuple[tuple[float, ...], ...]:
    matrix = noise**2 * np.linalg.pinv(jacobian.T @ jacobian)
    return tuple(tuple(map(float, row)) for row in matrix)


def _r2(y: Floats, residuals: Floats) -> float:
    total = float(np.sum((y - np.mean(y)) ** 2))
    return 1 - float(np.sum(residuals**2)) / total if total > 0 else float("nan")


def _without(series: Series, law: Law, status: FitStatus) -> LawFit:
    return LawFit(law.name, status, len(series), series.horizon)
