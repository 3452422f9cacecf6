"""What a fit costs: milliseconds for one law on 500 points, with its covariance; medians over curves.

python -m benchmarks.law_speed [--curves 100] [--points 500]
"""

import argparse
import statistics
import time
from collections.abc import Callable

from benchmarks.law_recovery import PLANTS, planted
from grpo_ops.curve import RewardCurve
from grpo_ops.law import LAWS, fit, fit_all


def fit_times(curves: int, points: int) -> dict[str, list[float]]:
    """Seconds of each fit, by law, on curves of that law; `all laws` is fit_all."""
    times: dict[str, list[float]] = {}
    for name, law in LAWS.items():
        own = [planted(plant, points, 0.0, seed) for plant in PLANTS if plant.law == name for seed in range(curves)]
        times[name] = [_seconds(fit, curve, law) for curve in own[::4]]
    mixed = [planted(plant, points, 0.0, seed) for seed in range(1 + curves // 20) for plant in PLANTS]
    times["all laws"] = [_seconds(fit_all, curve) for curve in mixed]
    few = [planted(plant, points, 0.0, 0) for plant in PLANTS[:3]]
    times["exponential, bootstrap"] = [_seconds(fit, curve, LAWS["exponential"], "bootstrap") for curve in few]
    return times


def _seconds(judge: Callable[..., object], curve: RewardCurve, *rest: object) -> float:
    before = time.perf_counter()
    judge(curve, *rest)
    return time.perf_counter() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--curves", type=int, default=100)
    parser.add_argument("--points", type=int, default=500)
    options = parser.parse_args()
    for name, seconds in fit_times(options.curves, options.points).items():
        slow = statistics.quantiles(seconds, n=10)[-1]
        print(f"{name:24} median {1e3 * statistics.median(seconds):6.1f} ms, 9 of 10 within {1e3 * slow:6.1f} ms")


if __name__ == "__main__":
    main()
