"""Do the intervals of a fit hold the truth as often as they say? Planted parameters, noise as real runs have it.

    python -m benchmarks.law_recovery [--draws 500] [--law damped] [--covariance bootstrap]

Real runs: a point's noise is 0.03 to 0.1 where the gain is 0.3 to 0.8, n = 50 to 500 points, and correlated by up to
about 0.3 from one point to the next. A row is one planted law at one n and correlation: coverage of the 95 % interval
in percent and median standard error for each parameter; `*` marks what lies outside of 92 to 98.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from grpo_ops.curve import RewardCurve
from grpo_ops.law import LAWS, Law, LawFit, fit

SIZES, CORRELATIONS = (50, 200, 500), (0.0, 0.3)


@dataclass(frozen=True)
class Plant:
    """A law with known parameters, by the law's names, and the standard deviation of one point around it."""

    law: str
    params: tuple[float, ...]
    noise: float


PLANTS = (
    Plant("exponential", (0.2, 0.8, 0.15), 0.05),
    Plant("exponential", (0.2, 0.6, 0.3), 0.05),
    Plant("exponential", (0.3, 0.9, 0.3), 0.1),
    Plant("exponential", (0.1, 0.7, 0.7), 0.05),
    Plant("logistic", (0.1, 0.8, 14.0, 0.3), 0.05),
    Plant("logistic", (0.2, 0.7, 10.0, 0.5), 0.05),
    Plant("logistic", (0.1, 0.8, 8.0, 0.3), 0.1),
    Plant("logistic", (0.2, 0.7, 25.0, 0.2), 0.05),
    Plant("scalerl", (0.1, 0.8, 0.15, 3.0), 0.05),
    Plant("scalerl", (0.1, 0.8, 0.3, 3.0), 0.05),
    Plant("scalerl", (0.1, 0.8, 0.3, 5.0), 0.1),
    Plant("scalerl", (0.1, 0.8, 0.15, 1.5), 0.05),
    Plant("damped", (0.2, 0.8, 12.0, 0.5), 0.05),
    Plant("damped", (0.2, 0.8, 12.0, 1.0), 0.05),
    Plant("damped", (0.2, 0.8, 20.0, 1.5), 0.05),
    Plant("damped", (0.2, 0.8, 20.0, 3.0), 0.05),
    Plant("rise_and_decline", (0.2, 0.8, 0.4, 0.1, 0.6), 0.05),
    Plant("rise_and_decline", (0.2, 0.8, 0.5, 0.15, 0.7), 0.05),
    Plant("rise_and_decline", (0.1, 0.7, 0.6, 0.1, 0.5), 0.1),
    Plant("rise_and_decline", (0.2, 0.8, 0.2, 0.1, 0.6), 0.05),
)


def planted(plant: Plant, n: int, rho: float, seed: int) -> RewardCurve:
    """One draw: n points of the law plus AR(1) noise of the plant's standard deviation."""
    law = LAWS[plant.law]
    path = law.predict(np.arange(1, n + 1) / n, np.array(plant.params))
    rewards = path + plant.noise * _correlated(n, rho, np.random.default_rng([seed, n, PLANTS.index(plant)]))
    return RewardCurve(tuple(range(1, n + 1)), tuple(map(float, rewards)), n)


def fits(plant: Plant, n: int, rho: float, draws: int, covariance: str = "hessian") -> list[LawFit]:
    return [fit(planted(plant, n, rho, seed), LAWS[plant.law], covariance) for seed in range(draws)]


def coverage(plant: Plant, found: list[LawFit]) -> dict[str, float]:
    """Share of fits whose 95 % interval holds the planted value, by parameter."""
    truth = dict(zip(LAWS[plant.law].names, plant.params, strict=True))
    return {name: float(np.mean([_holds(one, name, value) for one in found])) for name, value in truth.items()}


def _holds(one: LawFit, name: str, value: float) -> bool:
    low, high = one.interval(name)
    return low <= value <= high


def _correlated(n: int, rho: float, draws: np.random.Generator) -> np.ndarray:
    steps = draws.normal(size=n) * np.sqrt(1 - rho**2)
    steps[0] /= np.sqrt(1 - rho**2)
    for index in range(1, n):
        steps[index] += rho * steps[index - 1]
    return steps


def _rows(law: Law, draws: int, covariance: str) -> Iterator[str]:
    for plant in (plant for plant in PLANTS if plant.law == law.name):
        for n in SIZES:
            for rho in CORRELATIONS:
                yield _row(plant, n, rho, fits(plant, n, rho, draws, covariance))


def _row(plant: Plant, n: int, rho: float, found: list[LawFit]) -> str:
    cells = []
    for (name, share), value in zip(coverage(plant, found).items(), plant.params, strict=True):
        error = np.median([one.standard_errors[name] for one in found])
        flag = " " if 0.92 <= share <= 0.98 else "*"
        cells.append(f"{name} {value:<4g} {100 * share:5.1f}{flag}±{error:.2g}")
    bound = np.mean([bool(one.at_bound) for one in found])
    return f"{plant.noise:<5g} {n:4} {rho:<4g}" + "".join(f"{cell:24}" for cell in cells) + f"{100 * bound:3.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--law", choices=list(LAWS), action="append")
    parser.add_argument("--covariance", choices=["hessian", "bootstrap"], default="hessian")
    options = parser.parse_args()
    for name in options.law or LAWS:
        print(f"\n{name}: noise, n, correlation, then value, coverage %, standard error; % of fits at a bound")
        for row in _rows(LAWS[name], options.draws, options.covariance):
            print(row, flush=True)


if __name__ == "__main__":
    main()
