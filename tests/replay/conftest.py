"""A made sweep with a clear order, noise, evaluations prompt by prompt, and one late starter."""

import numpy as np
import pytest

from grpo_ops.curve import Evaluation, RewardCurve, evaluation_curve
from grpo_ops.replay import Source, Sweep

STEPS, TRIALS, PROMPTS = 40, 8, 64


@pytest.fixture(scope="session")
def source() -> Source:
    """Eight trials of 40 steps; number 7 is the best. Evaluations at 0, 4, ..., 40 on 64 prompts."""
    draws = np.random.default_rng(3)
    x = np.arange(1, STEPS + 1) / STEPS
    levels = [0.1 + 0.1 * number for number in range(TRIALS)]
    rewards = [level * (1 - np.exp(-x / 0.15)) + draws.normal(0, 0.02, STEPS) for level in levels]
    curves = tuple(RewardCurve(tuple(range(1, STEPS + 1)), tuple(map(float, one)), STEPS) for one in rewards)
    outcomes = tuple(tuple(_evaluation(step, level, draws) for step in range(0, STEPS + 1, 4)) for level in levels)
    evaluations = tuple(evaluation_curve(found, STEPS) for found in outcomes)
    params = tuple({"per_device_train_batch_size": 16, "num_iterations": 1} for _ in levels)
    names = tuple(f"t{number}" for number in range(TRIALS))
    return Source("made", curves, params, True, names, evaluations, outcomes=outcomes)


@pytest.fixture(scope="session")
def by_reward(source) -> Sweep:
    return Sweep.of(source, "reward")


@pytest.fixture(scope="session")
def by_evaluation(source) -> Sweep:
    return Sweep.of(source)


def _evaluation(step, level, draws) -> Evaluation:
    passed = draws.random(PROMPTS) < level * (1 - np.exp(-step / STEPS / 0.15))
    return Evaluation(step, tuple(map(float, passed)), tuple(map(str, range(PROMPTS))), "made")
