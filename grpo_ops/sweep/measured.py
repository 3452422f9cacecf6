"""What was measured of one point of a space, over its runs: by prompt where there are held-out evaluations."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from grpo_ops.curve import Evaluation, RewardCurve
from grpo_ops.sweep.board import final_reward

Floats = NDArray[np.float64]
_HALVES = 100
_LEAST_PROMPTS = 8
_NOTHING = np.empty(0)


@dataclass(frozen=True, eq=False)
class Measured:
    """scores: one a run, of its best checkpoint. error: of their mean over prompts (or points of the curve), or NaN.

    outcomes: (prompts,), of the best checkpoints, mean over the runs; empty for training reward.
    chosen, unseen: (halves,), score of what is best on a half of the prompts on that half, and on the other half.
    names: digest and prompts that two must share to be paired.
    """

    key: str
    scores: tuple[float, ...]
    error: float
    outcomes: Floats = field(default_factory=lambda: _NOTHING)
    chosen: Floats = field(default_factory=lambda: _NOTHING)
    unseen: Floats = field(default_factory=lambda: _NOTHING)
    names: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        return math.fsum(self.scores) / len(self.scores)

    @property
    def fair(self) -> float:
        """The score without the optimism of having chosen the best checkpoint."""
        return float(self.unseen.mean()) if len(self.unseen) else self.score

    @property
    def runs(self) -> int:
        return len(self.scores)

    @property
    def prompts(self) -> int:
        return len(self.outcomes)

    def is_paired_with(self, other: "Measured") -> bool:
        return bool(self.names) and self.names == other.names

    def against(self, other: "Measured") -> tuple[float, float]:
        """The difference of the two and its variance, without that of the seeds: NaN where it is not known.

        Paired, mean(d²) / N as in a test of no difference at all: it is not 0 where all differ alike.
        """
        if self.is_paired_with(other) and self.prompts > 1:
            d = self.outcomes - other.outcomes
            return self.fair - other.fair, float(np.mean(d**2)) / len(d)
        return self.fair - other.fair, self.error**2 + other.error**2


def measured(key: str, runs: Sequence[Sequence[Evaluation] | RewardCurve]) -> Measured | None:
    """From each run's evaluations, or its training rewards; runs without a value are left out, None without any."""
    curves = [run for run in runs if isinstance(run, RewardCurve) and len(run)]
    if curves:
        return _from_rewards(key, curves)
    known = [[one for one in run if math.isfinite(one.mean)] for run in runs if not isinstance(run, RewardCurve)]
    known = [run for run in known if run]
    return _from_evaluations(key, known) if known else None


def unseen_of_best(best: Measured, field: Sequence[Measured]) -> float:
    """Of whatever of the `field` is best on a half of the prompts, the score on the other half, over all halves.

    Only what can be paired with `best` is looked at; its score where there is nothing, or too few prompts to halve.
    """
    rivals = [one for one in field if one.is_paired_with(best)]
    if not len(best.unseen) or not rivals:
        return best.fair
    winners = np.argmax([one.chosen for one in rivals], axis=0)
    return float(np.mean(np.array([one.unseen for one in rivals])[winners, np.arange(_HALVES)]))


def _from_evaluations(key: str, runs: Sequence[Sequence[Evaluation]]) -> Measured:
    scores = tuple(max(one.mean for one in run) for run in runs)
    names = (runs[0][-1].digest, *runs[0][-1].prompt_ids)
    tables = [_table(run, names) for run in runs]
    if not all(len(table) for table in tables):  # its runs were evaluated on different prompts
        best = [max(run, key=lambda one: one.mean).standard_error for run in runs]
        return Measured(key, scores, math.sqrt(math.fsum(error**2 for error in best)) / len(best))
    outcomes = np.mean([table[np.argmax(table.mean(axis=1))] for table in tables], axis=0)
    chosen, unseen = np.mean([_on_halves(table) for table in tables], axis=0)
    return Measured(key, scores, _error(outcomes), outcomes, chosen, unseen, names)


def _table(run: Sequence[Evaluation], names: tuple[str, ...]) -> Floats:
    """(checkpoints, prompts) of the evaluations on these prompts; a prompt that no reward scored counts as the mean."""
    rows = [
        [one.mean if outcome is None else outcome for outcome in one.outcomes]
        for one in run
        if (one.digest, *one.prompt_ids) == names
    ]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(names) - 1)


def _on_halves(table: Floats) -> tuple[Floats, Floats]:
    """For each half of the prompts, the score of the checkpoint that is best on it: there, and on the other half."""
    prompts = table.shape[1]
    if prompts < _LEAST_PROMPTS:
        return _NOTHING, _NOTHING
    halves = _halves(prompts)
    inside, outside = table @ halves.T / (prompts // 2), table @ (1 - halves).T / (prompts - prompts // 2)
    best = np.argmax(inside, axis=0)
    return inside[best, np.arange(_HALVES)], outside[best, np.arange(_HALVES)]


@lru_cache(maxsize=8)
def _halves(prompts: int) -> Floats:
    """(halves, prompts) of 0 and 1, always the same."""
    draws = np.random.default_rng(0)
    return np.array([draws.permutation(prompts) < prompts // 2 for _ in range(_HALVES)], dtype=np.float64)


def _error(outcomes: Floats) -> float:
    return float(outcomes.std(ddof=1)) / math.sqrt(len(outcomes)) if len(outcomes) > 1 else math.nan


def _from_rewards(key: str, curves: Sequence[RewardCurve]) -> Measured:
    """The mean over the last tenth; its error from the noise of neighbouring points, var(diff) / 2."""
    errors = [_reward_error(np.array(curve.rewards)) for curve in curves]
    scores = tuple(level for curve in curves if (level := final_reward(curve)) is not None)
    return Measured(key, scores, math.sqrt(math.fsum(error**2 for error in errors)) / len(curves))


def _reward_error(rewards: Floats) -> float:
    if len(rewards) < 3:
        return math.nan
    return math.sqrt(float(np.mean(np.diff(rewards) ** 2)) / 2 / max(1, len(rewards) // 10))
