"""The first nouns: what a run showed at one step, the curve of it, and a checkpoint's score on held-out prompts."""

import itertools
import math
import operator
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grpo_ops.errors import CurveError


@dataclass(frozen=True, slots=True)
class Observation:
    """What a run showed at one step. `metrics` holds every other finite number that was logged there."""

    step: int
    reward: float
    metrics: Mapping[str, float] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class RewardCurve:
    """Rewards over strictly increasing steps, stored as columns; an Observation is a view of one row.

    steps: optimiser steps, strictly increasing, each >= 0. rewards: one finite reward a step.
    max_steps: the planned last step (the horizon), or None where nobody said.
    metrics: further columns by TRL's names, NaN where a step has none.

    Raises CurveError for columns of different length, steps that do not increase and rewards that are not finite.
    """

    steps: tuple[int, ...] = ()
    rewards: tuple[float, ...] = ()
    max_steps: int | None = None
    metrics: Mapping[str, tuple[float, ...]] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        _check_columns(self.steps, self.rewards, self.metrics)

    @classmethod
    def of(cls, observations: Iterable[Observation], max_steps: int | None = None) -> "RewardCurve":
        """The curve of `observations`, which must come in the order of their steps."""
        rows = list(observations)
        names = {name for row in rows for name in row.metrics}
        columns = {name: tuple(row.metrics.get(name, math.nan) for row in rows) for name in sorted(names)}
        return cls(tuple(row.step for row in rows), tuple(row.reward for row in rows), max_steps, columns)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: int) -> Observation:
        metrics = {name: column[index] for name, column in self.metrics.items() if math.isfinite(column[index])}
        return Observation(self.steps[index], self.rewards[index], metrics)

    def __iter__(self) -> Iterator[Observation]:
        return (self[index] for index in range(len(self)))

    def head(self, count: int) -> "RewardCurve":
        """The first `count` points."""
        columns = {name: column[:count] for name, column in self.metrics.items()}
        return RewardCurve(self.steps[:count], self.rewards[:count], self.max_steps, columns)

    def upto(self, step: int) -> "RewardCurve":
        """The points at `step` and before."""
        return self.head(bisect_right(self.steps, step))

    @property
    def spacing(self) -> int:
        """Median distance of neighbouring steps; 1 for fewer than two points."""
        gaps = sorted(map(operator.sub, itertools.islice(self.steps, 1, None), self.steps))
        return gaps[len(gaps) // 2] if gaps else 1

    @property
    def planned_points(self) -> int:
        """How many points the whole run will have, from the first one to max_steps; never fewer than there are."""
        if self.max_steps is None or not self.steps:
            return len(self)
        return max(len(self), 1 + round((self.max_steps - self.steps[0]) / self.spacing))


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A checkpoint's score on held-out prompts, kept per prompt so that two can be paired.

    outcomes: one score a prompt, in the order of `prompt_ids`; None where no reward applied.
    digest: identifies prompts and decoding; evaluations of different digests are not comparable.
    """

    step: int
    outcomes: tuple[float | None, ...]
    prompt_ids: tuple[str, ...]
    digest: str

    def __post_init__(self) -> None:
        if len(self.outcomes) != len(self.prompt_ids):
            raise CurveError(
                f"an evaluation needs one outcome a prompt but got {len(self.outcomes)} for {len(self.prompt_ids)}"
            )

    @property
    def scored(self) -> tuple[float, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome is not None)

    @property
    def mean(self) -> float:
        """Mean outcome of the scored prompts; NaN where there is none."""
        return math.fsum(self.scored) / len(self.scored) if self.scored else math.nan

    @property
    def standard_error(self) -> float:
        """Standard error of the mean over prompts; NaN for fewer than two."""
        n, mean = len(self.scored), self.mean
        if n < 2:
            return math.nan
        return math.sqrt(math.fsum((x - mean) ** 2 for x in self.scored) / (n - 1) / n)


def evaluation_curve(evaluations: Sequence[Evaluation], max_steps: int | None = None) -> RewardCurve:
    """The evaluation means as a curve; of a repeated step the first counts, a mean that is not finite is left out."""
    rows: dict[int, float] = {}
    for evaluation in evaluations:
        if math.isfinite(evaluation.mean):
            rows.setdefault(evaluation.step, evaluation.mean)
    return RewardCurve.of((Observation(step, rows[step]) for step in sorted(rows)), max_steps)


def _check_columns(steps: Sequence[int], rewards: Sequence[float], metrics: Mapping[str, Sequence[float]]) -> None:
    if len(steps) != len(rewards):
        raise CurveError(f"a curve needs one reward a step but got {len(rewards)} for {len(steps)}")
    for name, column in metrics.items():
        if len(column) != len(steps):
            raise CurveError(f"column {name!r} has {len(column)} values for {len(steps)} steps")
    if not all(map(operator.lt, steps, itertools.islice(steps, 1, None))):
        before, after = next((a, b) for a, b in itertools.pairwise(steps) if not a < b)
        raise CurveError(f"steps must increase strictly but {after} follows {before}; sort them and drop repeats first")
    if not all(map(math.isfinite, rewards)):
        step, reward = next((step, x) for step, x in zip(steps, rewards, strict=True) if not math.isfinite(x))
        raise CurveError(f"rewards must be finite but step {step} has {reward}; leave out the steps without a reward")
