"""The winner of a study with its uncertainty, and the trials that cannot be told from it.

Best by what was measured, but two choices make that number optimistic: the best of a run's checkpoints, and the best of
all runs. `expected` is without both: what is best on a random half of the prompts is scored on the other half, over 100
halves (cross-validation of the choice, Varma and Simon 2006; five folds vary twice as much). Another trial can be told
from the winner where a one-sided test at 5 % / (number of others) finds it worse, each without the optimism of its own
choice, paired by prompt where both were evaluated on the same ones. So the trial that is truly best is the winner or
among those alike with 95 % at least, although the winner was chosen as the highest (subset selection, Gupta 1965;
Holm's smaller steps would not keep that promise).
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from grpo_ops.curve import Evaluation, RewardCurve
from grpo_ops.law.types import or_none
from grpo_ops.sweep.measured import Measured, measured, unseen_of_best

_ALPHA = 0.05
_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Entrant:
    """A point of the space: the run_key of its first run, and all of its runs (seeds) as they were seen."""

    key: str
    evaluations: tuple[tuple[Evaluation, ...], ...]
    curves: tuple[RewardCurve, ...]


@dataclass(frozen=True, slots=True)
class Winner:
    """key: run_key of its (first) run. score: its best held-out evaluation (or smoothed reward), mean over its runs.

    expected: what the score is worth without the optimism of the choice, with standard error se and 95 % band.
    alike: run_keys of the trials that cannot be told from it, best first. runs: seeds that it was trained with.
    prompts: held-out prompts that it rests on, 0 for training reward. others: how many trials it was compared with.
    """

    key: str
    score: float
    expected: float
    se: float
    low: float
    high: float
    alike: tuple[str, ...]
    runs: int
    prompts: int
    others: int

    def as_dict(self) -> dict[str, Any]:
        """As JSON: null where a number is not known."""
        numbers = {name: or_none(getattr(self, name)) for name in ("score", "expected", "se", "low", "high")}
        return {**asdict(self), **numbers, "alike": list(self.alike)}

    @property
    def sentence(self) -> str:
        """The winner in words."""
        over = f"{self.prompts} prompts" if self.prompts else "its last tenth"
        seeds = f"{self.runs} seeds" if self.runs > 1 else "one seed, so without what another would change"
        band = f"95 % band {self.low:.3f} to {self.high:.3f}" if math.isfinite(self.se) else "its error is not known"
        kind = "held-out evaluation" if self.prompts else "training reward"
        return f"Winner: {self.key}, {kind} {self.score:.3f}; expected {self.expected:.3f}, {band} ({over}, {seeds})."

    @property
    def doubt(self) -> str:
        """Which trials it cannot be told from, in words."""
        if self.alike:
            return f"Cannot be told from it: {', '.join(self.alike)}."
        return f"All {self.others} others are worse, at 5 % over all of them." if self.others else ""


def find_winner(entrants: Sequence[Entrant], objective: str) -> Winner | None:
    """The best of `entrants` by `objective` (`eval_reward` or `reward`); None where none has a value."""
    field = [found for entrant in entrants if (found := measured(entrant.key, _values(entrant, objective)))]
    if not field:
        return None
    best = max(field, key=lambda one: one.score)
    others = sorted((one for one in field if one is not best), key=lambda one: -one.score)
    seeds = _seed_variance(field)
    expected = unseen_of_best(best, field)
    se = math.sqrt(best.error**2 + seeds / best.runs)
    band = (expected - _Z * se, expected + _Z * se)
    alike = tuple(one.key for one in _not_worse(best, others, seeds))
    return Winner(best.key, best.score, expected, se, *band, alike, best.runs, best.prompts, len(others))


def _values(entrant: Entrant, objective: str) -> Sequence[Sequence[Evaluation] | RewardCurve]:
    return entrant.curves if objective == "reward" else entrant.evaluations


def _not_worse(best: Measured, others: Sequence[Measured], seeds: float) -> list[Measured]:
    """Those of `others` that are not found worse; one whose error is not known is among them."""
    return [other for other in others if _chance_of_no_worse(best, other, seeds) > _ALPHA / len(others)]


def _chance_of_no_worse(best: Measured, other: Measured, seeds: float) -> float:
    """p of the one-sided test of `other` against `best`; 1 where the error of the difference is 0 or not known."""
    difference, variance = best.against(other)
    variance += seeds * (1 / best.runs + 1 / other.runs)
    if not (math.isfinite(variance) and variance > 0):
        return 1.0
    return 1 - NormalDist().cdf(difference / math.sqrt(variance))


def _seed_variance(field: Sequence[Measured]) -> float:
    """Of a run's score over seeds, pooled over the points that have several; 0 where none has."""
    repeated = [one.scores for one in field if one.runs > 1]
    freedom = sum(len(scores) - 1 for scores in repeated)
    return sum(float(np.var(scores)) * len(scores) for scores in repeated) / freedom if freedom else 0.0
