"""The replay protocol: which trials of a sweep run in which order, and what one replicate says of a rule."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from grpo_ops.replay.trials import ReplayTrial, Sweep, completions_of

_NEAR = 1.4
"""Standard errors of a score within which a kept trial is near the best: those of a difference."""


def orders(name: str, trials: int, replicates: int, subsets: bool, seed: int) -> list[list[int]]:
    """The trials of each replicate in the order in which they start, the same for every rule.

    With subsets each replicate takes 12 of 16 trials and more, all but 2 of 10 to 15, all but 1 of fewer.
    """
    random = np.random.default_rng((seed, zlib.crc32(name.encode())))
    size = subset_size(trials) if subsets else trials
    return [random.permutation(trials)[:size].tolist() for _ in range(replicates)]


def subset_size(trials: int) -> int:
    if trials >= 16:
        return 12
    return trials - 2 if trials >= 10 else trials - 1


@dataclass
class Ended:
    """How one trial ended. worth: the score it kept, None where it was pruned. steps: training steps it used.

    is_false: pruned, though its score beats the incumbent of that time, the best finished trial; before any has
    finished, the best of those that were running.
    """

    trial: ReplayTrial
    steps: int
    worth: float | None
    is_false: bool = False


@dataclass
class Replicate:
    """What came of one study. seconds: spent in `decisions` calls of should_prune."""

    ended: list[Ended] = field(default_factory=list)
    seconds: float = 0.0
    decisions: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """One replicate, as shares of 1. pruned: trials pruned, false: of them, those that beat the incumbent.

    evaluations: completions spent on evaluation over those spent on training; None where they are not known.
    """

    saved: float
    regret: float
    keeps_best: bool
    near: bool
    pruned: int
    false: int
    evaluations: float | None

    @classmethod
    def of(cls, found: Replicate, sweep: Sweep) -> "Outcome":
        """What a plateau keeps is worth no more than the best score; where all were pruned, the worst score counts."""
        trials = [ended.trial for ended in found.ended]
        kept = {ended.trial: ended.worth for ended in found.ended if ended.worth is not None}
        best = max(trials, key=lambda trial: trial.score)
        worth = min(best.score, max(kept.values(), default=min(trial.score for trial in trials)))
        return cls(
            1 - sum(ended.steps for ended in found.ended) / sum(trial.steps for trial in trials),
            _share(best.score - worth, best.score),
            any(trial.score >= best.score for trial in kept),
            worth >= best.score - _NEAR * sweep.standard_error,
            len(trials) - len(kept),
            sum(ended.is_false for ended in found.ended),
            _evaluations(found) if sweep.by_evaluation else None,
        )


def _share(loss: float, best: float) -> float:
    return loss / abs(best) if best else float(loss > 0)


def _evaluations(found: Replicate) -> float | None:
    spent, trained = 0, 0.0
    for ended in found.ended:
        completions = completions_of(ended.trial.params)
        if completions is None or not ended.trial.outcomes:
            return None
        trained += completions * ended.steps
        spent += _evaluated(ended.trial, ended.steps)
    return spent / trained if trained else None


def _evaluated(trial: ReplayTrial, steps: int) -> int:
    return sum(len(evaluation.outcomes) for evaluation in trial.outcomes if evaluation.step <= steps)


def mean_of(values: Sequence[float]) -> tuple[float, float]:
    """Mean and its standard error, 0 for a single value."""
    error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
    return float(np.mean(values)), error
