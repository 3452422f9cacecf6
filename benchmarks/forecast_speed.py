"""What a forecast costs: a pool of siblings, a forecast that leans on it, one that does not, and the import.

    python -m benchmarks.forecast_speed [--curves 200] [--points 500] [--siblings 20]

Each forecast is of a curve that nobody has looked at before; times are medians over the curves.
"""

import argparse
import statistics
import subprocess
import sys
import time

import numpy as np

from grpo_ops.curve import RewardCurve
from grpo_ops.law import Pool, forecast

IMPORT = "import time; start = time.perf_counter(); import grpo_ops.law; print(time.perf_counter() - start)"


def curve(points: int, planned: int, seed: int) -> RewardCurve:
    """The first `points` of a run that rises to a level of its own."""
    random = np.random.default_rng(seed)
    end, tau = random.uniform(0.4, 0.9), random.uniform(0.1, 0.6)
    x = np.arange(1, points + 1) / planned
    rewards = end - (end - 0.2) * np.exp(-x / tau) + random.normal(0, 0.05, points)
    return RewardCurve(tuple(range(1, points + 1)), tuple(map(float, rewards)), planned)


def params(seed: int) -> dict[str, float | bool]:
    random = np.random.default_rng(seed)
    return {"learning_rate": 10 ** random.uniform(-6, -4), "lora": bool(seed % 2), "num_generations": 4 + seed % 3}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--curves", type=int, default=200)
    parser.add_argument("--points", type=int, default=500)
    parser.add_argument("--siblings", type=int, default=20)
    options = parser.parse_args()
    points, planned = options.points, 2 * options.points
    studies = [[curve(planned, planned, 1000 * study + k) for k in range(options.siblings)] for study in range(5)]
    built = [timed(lambda study=study: Pool.of(study, [params(k) for k in range(len(study))])) for study in studies]
    pool = Pool.of(studies[0], [params(k) for k in range(options.siblings)])
    runs = [curve(points, planned, 10_000 + k) for k in range(2 * options.curves)]
    leaning = [timed(lambda run=run: forecast(run, siblings=pool, params=params(1))) for run in runs[::2]]
    alone = [timed(lambda run=run: forecast(run)) for run in runs[1::2]]
    imports = [float(subprocess.check_output([sys.executable, "-c", IMPORT])) for _ in range(5)]
    print(f"pool of {options.siblings} siblings of {planned} points   {1e3 * statistics.median(built):7.1f} ms")
    print(f"forecast of {points} points with the pool      {1e3 * statistics.median(leaning):7.2f} ms")
    print(f"forecast of {points} points without siblings   {1e3 * statistics.median(alone):7.2f} ms")
    print(f"import grpo_ops.law                       {1e3 * statistics.median(imports):7.0f} ms")


def timed(call) -> float:
    before = time.perf_counter()
    call()
    return time.perf_counter() - before


if __name__ == "__main__":
    main()
