"""Finished trials as a replay sees them: what each reported, at which cost, and the score that it would have had."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from grpo_ops.curve import Evaluation, RewardCurve
from grpo_ops.errors import CurveError
from grpo_ops.law.hyperparameters import Params
from grpo_ops.law.series import Series
from grpo_ops.replay.finished import only_finished
from grpo_ops.replay.sources import Source

Metric: TypeAlias = Literal["auto", "reward", "eval_reward"]
_FEWEST_TRIALS = 3
_TIE_BREAKER = 1e-9


@dataclass(frozen=True)
class Report:
    """A value that a trial reports at a step, once it has used `cost` steps."""

    cost: int
    step: int
    value: float


@dataclass(frozen=True, eq=False)
class ReplayTrial:
    """One recorded trial; more is better. judged: the curve that is reported, rewards or evaluations.

    curve: training rewards. outcomes: evaluations prompt by prompt. completions: in one training step, where known.
    """

    name: str
    judged: RewardCurve
    curve: RewardCurve
    outcomes: tuple[Evaluation, ...] = ()
    params: Params = field(default_factory=dict)
    by_evaluation: bool = False

    @cached_property
    def series(self) -> Series:
        return Series.of(self.judged)

    @property
    def score(self) -> float:
        """Mean of the last tenth of the values, of at least three: what the trial is worth if it runs in full."""
        return self.series.final

    def level_until(self, step: int) -> float:
        """Mean of as many values up to `step`: what a trial that was stopped there is worth."""
        count = self.series.count(step)
        return float(np.mean(self.series.y[max(0, count - self.series.window) : count]))

    @property
    def steps(self) -> int:
        """Training steps of the whole run, which may go on after its last evaluation."""
        judged = self._cost(self.judged.steps[-1])
        return max(judged, self.curve.steps[-1]) if self.by_evaluation and self.curve.steps else judged

    @property
    def is_short(self) -> bool:
        """Whether the recorded curve ends before its planned last point: it was stopped."""
        return len(self.judged) < self.judged.planned_points

    @cached_property
    def reports(self) -> tuple[Report, ...]:
        rows = zip(self.judged.steps, self.judged.rewards, strict=True)
        return tuple(Report(self._cost(step), step, value) for step, value in rows)

    def blocks(self, share: float) -> tuple[Report, ...]:
        """Means of neighbouring values, each over `share` of the run, reported at the last of its steps.

        They differ by noise in their ninth digit: rewards lie on a grid, and of differences that tie scipy's Wilcoxon
        test tries all signs, which takes up to a second.
        """
        size = max(1, round(share * len(self.judged)))
        ends = range(size, len(self.judged) + 1, size)
        means = np.array([np.mean(self.judged.rewards[end - size : end]) for end in ends])
        noise = np.random.default_rng(zlib.crc32(repr(self.judged.rewards).encode())).normal(size=len(means))
        means += _TIE_BREAKER * (float(np.max(np.abs(means), initial=0.0)) or 1.0) * noise
        steps = [self.judged.steps[end - 1] for end in ends]
        return tuple(Report(self._cost(step), step, float(mean)) for step, mean in zip(steps, means, strict=True))

    def _cost(self, step: int) -> int:
        """A point of a training curve stands for the steps since the one before; an evaluation is made at its step."""
        return step if self.by_evaluation else step - self.judged.steps[0] + self.judged.spacing


@dataclass(frozen=True)
class Sweep:
    """The recorded trials of one study. notes: what the readers said, and which trials cannot be replayed in full."""

    name: str
    trials: tuple[ReplayTrial, ...]
    by_evaluation: bool
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: Source, metric: Metric = "auto") -> "Sweep":
        """`source` judged by `metric`; auto: by held-out evaluation where every trial has evaluations.

        Trials that were ended early are left out. Raises CurveError for a single curve, for fewer than three trials,
        and for evaluations that are not there.
        """
        source = only_finished(source)
        if not source.is_sweep or len(source.curves) < _FEWEST_TRIALS:
            raise CurveError(
                f"{source.name} cannot be replayed: give a sweep file with at least {_FEWEST_TRIALS} trials"
                + (f"; {source.notes[-1]}" if source.endings and source.notes else "")
            )
        evaluated = len(source.evaluations) == len(source.curves) and all(source.evaluations)
        if metric == "eval_reward" and not evaluated:
            raise CurveError(f"not every trial of {source.name} has evaluations: give --metric reward")
        by_evaluation = evaluated and metric != "reward"
        trials = tuple(_trial(source, number, by_evaluation) for number in range(len(source.curves)))
        return cls(source.name, trials, by_evaluation, (*source.notes, *_on_short(trials)))

    @property
    def last_step(self) -> int:
        """The longest planned step of any trial."""
        return max(trial.judged.max_steps or trial.judged.steps[-1] for trial in self.trials)

    @property
    def has_outcomes(self) -> bool:
        """Whether it is judged by evaluations that are known prompt by prompt."""
        return self.by_evaluation and all(len(trial.outcomes) == len(trial.judged) for trial in self.trials)

    @cached_property
    def standard_error(self) -> float:
        """Of one trial's score: median noise of a value over the square root of how many make a score."""
        return float(np.median([trial.series.noise / np.sqrt(trial.series.window) for trial in self.trials]))


def _on_short(trials: Sequence[ReplayTrial]) -> Iterator[str]:
    short = sum(trial.is_short for trial in trials)
    if short:
        yield f"{short} of {len(trials)} trials were stopped before their planned end and count as they were then"


def completions_of(params: Mapping[str, object]) -> float | None:
    """Completions that one training step samples by TRL's settings, None where they do not say it."""
    named = {name.rpartition(".")[2]: value for name, value in params.items()}
    sizes = [named.get(name, default) for name, default in _SIZES]
    if not all(isinstance(size, int | float) and size > 0 for size in sizes):
        return None
    batch, accumulation, iterations = (float(str(size)) for size in sizes)
    return batch * accumulation / iterations


_SIZES: Sequence[tuple[str, int | None]] = (
    ("per_device_train_batch_size", None),
    ("gradient_accumulation_steps", 1),
    ("num_iterations", 1),
)


def _trial(source: Source, number: int, by_evaluation: bool) -> ReplayTrial:
    curve, held_out = source.curves[number], source.evaluations[number] if source.evaluations else None
    judged = held_out if by_evaluation and held_out is not None else curve
    outcomes = source.outcomes[number] if source.outcomes and not source.is_negative else ()
    name = source.names[number] if source.names else str(number)
    return ReplayTrial(name, judged, curve, outcomes, source.params[number], by_evaluation)
