"""How uncertain a fit's parameters are, allowing for noise that is correlated from point to point.

hessian: of the soft L1 cost at its optimum, in Gauss and Newton's form: inv(J'J / (s² f) + 12 / range²). In it
- s² = sum(psi²) / (n - p f) / mean(psi')², psi = r / sqrt(1 + r²): the variance of an M-estimate (Huber 1981, 7.6);
- f = (1 + rho) / (1 - rho): a law is smooth, so it sees the noise at frequency zero, where AR(1) noise is f times as
  strong; the p parameters then take p f degrees of freedom. rho is the residuals' correlation at lag 1, plus what p
  fitted parameters take from it, (p (1 + rho) + 2 rho) / n (Kendall 1954 has it for a fitted mean), never below 0.
- range is the distance of a parameter's bounds: what the data leave open is as uncertain as between them (a uniform
  variable has the variance range² / 12), and the matrix can always be inverted;
- the intervals' degrees of freedom are 1 / (1 / (n - p f) + 2 / (n (1 - rho²))): s² and f are both estimated, and a
  variance known with relative error e counts for 2 / e² of them (Satterthwaite 1946).
bootstrap: the spread of 200 refits to the fitted path plus blocks of its residuals (moving blocks, always drawn alike).
It assumes neither AR(1) nor that the law is linear near the optimum; slower, a few tenths of a second.
"""

from dataclasses import dataclass

import numpy as np

from grpo_ops.law.optimum import Optimum, minimise
from grpo_ops.law.problem import Problem
from grpo_ops.law.types import Floats

_MOST_RHO = 0.9
_NARROWEST, _LEAST_VARIANCE = 1e-9, 1e-24
_REPLICATES = 200
_SEED = 0


@dataclass(frozen=True, eq=False)
class Correlation:
    """The residuals' correlation: rho at lag 1; factor f >= 1 by which it raises variances; dof."""

    rho: float
    factor: float
    dof: float

    @classmethod
    def of(cls, influence: Floats, parameters: int) -> "Correlation":
        n, total = len(influence), float(influence @ influence)
        lagged = float(influence[:-1] @ influence[1:]) / total if total > 0 else 0.0
        rho = min(max(lagged + (parameters * (1 + lagged) + 2 * lagged) / n, 0.0), _MOST_RHO)
        factor = max(1.0, min((1 + rho) / (1 - rho), n / (2 * parameters)))
        spared = max(1.0, n - parameters * factor)
        return cls(rho, factor, max(1.0, 1 / (1 / spared + 2 / (n * (1 - rho**2)))))


def hessian(problem: Problem, optimum: Optimum, noise: Correlation) -> Floats:
    """Covariance of u from the curvature at the optimum."""
    residuals = problem.residuals(optimum.u)
    n, p = len(residuals), len(optimum.u)
    influence, slope = _influence(residuals), float(np.mean((1 + residuals**2) ** -1.5))
    variance = float(influence @ influence) / max(1.0, n - p * noise.factor) / slope**2
    jacobian, reach = problem.jacobian(optimum.u), np.maximum(problem.high - problem.low, _NARROWEST)
    known = jacobian.T @ jacobian / max(variance * noise.factor, _LEAST_VARIANCE) + np.diag(12 / reach**2)
    return np.asarray(np.linalg.inv(known))


def bootstrap(problem: Problem, optimum: Optimum, noise: Correlation) -> Floats:
    """Covariance of u over refits to resampled residuals."""
    path, draws = problem.path(optimum.u), np.random.default_rng(_SEED)
    roots = np.sqrt(problem.sample.weights)
    left = roots * (problem.sample.y - path)
    n, p = len(left), len(optimum.u)
    left = (left - left.mean()) * np.sqrt(n / max(1.0, n - p * noise.factor))
    length = _block_length(noise.rho, n)
    refits = [
        minimise(problem.with_rewards(path + _in_blocks(left, length, draws) / roots), optimum.u).u
        for _ in range(_REPLICATES)
    ]
    return np.asarray(np.cov(np.array(refits), rowvar=False))


def correlation(problem: Problem, optimum: Optimum) -> Correlation:
    """How the residuals at the optimum are correlated."""
    return Correlation.of(_influence(problem.residuals(optimum.u)), len(optimum.u))


def _influence(residuals: Floats) -> Floats:
    return np.asarray(residuals / np.sqrt(1 + residuals**2))


def _block_length(rho: float, n: int) -> int:
    """Of moving blocks, best for a mean of AR(1) noise: (sqrt(6) rho / (1 - rho²))^(2/3) n^(1/3) (Carlstein 1986)."""
    best = (np.sqrt(6) * rho / (1 - rho**2)) ** (2 / 3) * n ** (1 / 3)
    return int(np.clip(np.ceil(best), 1, max(1, n // 4)))


def _in_blocks(values: Floats, length: int, draws: np.random.Generator) -> Floats:
    n = len(values)
    starts = draws.integers(0, n - length + 1, size=-(-n // length))
    return np.asarray(values[(starts[:, None] + np.arange(length)).ravel()[:n]])
