"""A short replay of recorded sweeps: the rule saves what it saved when it was vetted, and keeps the best."""

import random

import numpy as np
import pytest

from grpo_ops.curve import RewardCurve
from grpo_ops.pruning import PruneRule, TrialView, decide

REPLICATES = 8


def replay(trials, order, window) -> tuple[float, float]:
    """(share of steps saved, regret as a share of the best score) of one sweep with one worker."""
    views, used, total, kept, scores = [], 0, 0, [], []
    for index in order:
        steps, values = trials[index]
        scores.append(float(np.mean(values[-window(len(steps)) :])))
        stop = next((m for m in range(1, len(steps) + 1) if stops(index, steps, values, m, views)), None)
        used, total = used + steps[(stop or len(steps)) - 1], total + steps[-1]
        kept += [] if stop else [scores[-1]]
        curve = RewardCurve(steps[:stop], values[:stop], steps[-1])
        views.append(TrialView(str(index), curve, state="pruned" if stop else "finished"))
    return 1 - used / total, (max(scores) - max(kept)) / abs(max(scores))


def stops(index, steps, values, m, views) -> bool:
    return decide(TrialView(str(index), RewardCurve(steps[:m], values[:m], steps[-1])), views, PruneRule()).stop


@pytest.mark.parametrize(
    ("sweep", "column", "least_saved", "most_regret"),
    [
        ("gsm8k-hpo-qwen3-1.7b", "reward", 0.50, 0.01),
        ("recommender-weights", "reward", 0.42, 0.005),
        ("starter-max", "mean", 0.46, 0.005),
        ("starter-rotate", "mean", 0.48, 0.005),
        ("starter-subtract", "mean", 0.50, 0.03),
    ],
)
def test_the_rule_saves_what_it_saved_when_it_was_vetted(recorded, sweep, column, least_saved, most_regret):
    trials = recorded(sweep, column)
    size = 12 if len(trials) >= 16 else len(trials) - 2
    rng = random.Random(0)
    window = (lambda n: 3) if column == "mean" else (lambda n: max(3, n // 10))
    rows = [replay(trials, rng.sample(range(len(trials)), size), window) for _ in range(REPLICATES)]
    saved, regret = np.mean(rows, axis=0)
    assert saved >= least_saved
    assert regret <= most_regret
