"""Curves with one fault planted in them, on a healthy run of 200 steps; rewards between 0 and 1."""

import numpy as np

from grpo_ops.curve import RewardCurve

N = 200
T = np.arange(1, N + 1) / N


def noise(scale, seed=0):
    return np.random.default_rng(seed).normal(0, scale, N)


def curve(reward, max_steps=N, **metrics):
    """Metrics by TRL's names, `/` written as two underscores."""
    columns = {name.replace("__", "/"): tuple(map(float, values)) for name, values in metrics.items()}
    return RewardCurve(tuple(range(1, N + 1)), tuple(map(float, reward)), max_steps, columns)


RISING = 0.2 + 0.45 * T + noise(0.02)
FLAT_LOW = np.clip(0.03 + noise(0.01), 0, 1)
SOLVED = np.clip(0.3 + 0.68 * (1 - np.exp(-8 * T)) + noise(0.01), 0, 1)
FLAT_MIDDLE = 0.5 + noise(0.02)

HEALTHY = {
    "reward_std": 0.4 + noise(0.02, 1),
    "frac_reward_zero_std": np.clip(0.15 + noise(0.05, 2), 0, 1),
    "entropy": 1.2 - 0.4 * T + noise(0.02, 3),
    "kl": 0.01 + 0.1 * T + noise(0.003, 4),
    "grad_norm": np.exp(noise(0.3, 5)),
    "completions__mean_length": 200 + 30 * T + noise(5, 6),
    "completions__clipped_ratio": np.clip(0.02 + noise(0.01, 7), 0, 1),
    "clip_ratio__region_mean": np.clip(0.03 + noise(0.01, 8), 0, 1),
    "step_time": 10 + noise(0.5, 9),
}


def run(reward=RISING, **changed):
    """A healthy run with some columns replaced."""
    return curve(reward, **{**HEALTHY, **changed})


def evaluations(values, every=20):
    steps = tuple(every * (1 + index) for index in range(len(values)))
    return RewardCurve(steps, tuple(map(float, values)))
