"""What it is worth to try drawn points in the order of their prospects: on recorded sweeps, one run after another.

`python -m benchmarks.queue_order [SWEEP.json ...] [--draws 100]`. All points of a sweep are in the queue; each run is
known in full when the next is chosen (no pruning). Position: the place at which the best run is started; best of k:
the best level among the first k, in units of the sweep's range below its best (regret). Random order against ordered.
"""

import argparse
import random
from pathlib import Path

import numpy as np

from grpo_ops.law.prospects import Known, prospects
from grpo_ops.replay.sources import Source, load_sources

ROOT = Path(__file__).parents[1]
FIRST = (4, 6, 8, 12)


def main() -> None:
    """Print one line a sweep and the mean."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sweeps", nargs="*", type=Path)
    parser.add_argument("--draws", type=int, default=100, help="random orders a sweep")
    arguments = parser.parse_args()
    curves = ROOT.parent / "shared/curves/sweeps"
    paths = arguments.sweeps or [*sorted((ROOT / "benchmarks/sweeps").glob("*.json")), *sorted(curves.glob("starter*"))]
    head = " ".join(f"{f'regret {k}':>15}" for k in FIRST)
    print(f"{'sweep (random / ordered)':<26}{'runs':>5}{'position':>15} {head}   % of the range; position in runs")
    rows = []
    for source in load_sources(paths):
        levels = [level(source, index) for index in range(len(source.curves))]
        shuffles = [shuffled(len(levels), seed) for seed in range(arguments.draws)]
        plain = np.mean([score(order, levels) for order in shuffles], axis=0)
        ordered = np.mean([score(in_order(order, levels, source.params), levels) for order in shuffles], axis=0)
        rows.append((plain, ordered))
        print(line(source.name, len(levels), plain, ordered))
    print(line("mean", 0, np.mean([a for a, _ in rows], axis=0), np.mean([b for _, b in rows], axis=0)))


def level(source: Source, index: int) -> float:
    """Mean of the last three held-out evaluations; without any, of the last tenth of the rewards."""
    evaluations = source.evaluations[index] if source.evaluations else None
    if evaluations:
        return float(np.mean(evaluations.rewards[-3:]))
    rewards = source.curves[index].rewards
    return float(np.mean(rewards[-max(1, len(rewards) // 10) :]))


def shuffled(count: int, seed: int) -> list[int]:
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return order


def in_order(drawn: list[int], levels: list[float], params: tuple) -> list[int]:
    """The order in which they are started: always the best prospect, of equals the one drawn first."""
    started, waiting = [], list(drawn)
    while waiting:
        known = [Known(params[run], levels[run]) for run in started]
        mean, _ = prospects(known, [params[run] for run in waiting])
        started.append(waiting.pop(int(np.argmax(mean)) if len(known) > 1 else 0))
    return started


def score(order: list[int], levels: list[float]) -> list[float]:
    best, reach = max(levels), max(levels) - min(levels)
    position = 1 + order.index(levels.index(best))
    return [position, *(100 * (best - max(levels[run] for run in order[:k])) / reach for k in FIRST)]


def line(name: str, count: int, plain: np.ndarray, ordered: np.ndarray) -> str:
    cells = " ".join(f"{f'{one:.1f} / {other:.1f}':>15}" for one, other in zip(plain, ordered, strict=True))
    return f"{name:<26}{count or '':>5}{cells}"


if __name__ == "__main__":
    main()
