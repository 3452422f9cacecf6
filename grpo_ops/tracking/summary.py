"""What a journal comes to: how far, how long, how good."""

from collections.abc import Sequence
from dataclasses import dataclass

from grpo_ops.curve import Evaluation, RewardCurve
from grpo_ops.journal import Entry, journal_curve, journal_evaluations
from grpo_ops.law.diagnostics import Finding, journal_diagnoses


@dataclass(frozen=True, slots=True)
class Summary:
    """A run in numbers. seconds: wall time of all attempts. started, ended: first and last line, since the epoch."""

    steps: int
    max_steps: int | None
    seconds: float
    started: float | None
    ended: float | None
    curve: RewardCurve
    evaluations: tuple[Evaluation, ...]
    diagnoses: tuple[Finding, ...] = ()

    @property
    def best(self) -> Evaluation | None:
        """The evaluation with the highest mean (of equals, the earliest), None where none was scored."""
        scored = [evaluation for evaluation in self.evaluations if evaluation.scored]
        return max(scored, key=lambda evaluation: evaluation.mean, default=None)

    @property
    def baseline(self) -> Evaluation | None:
        """The evaluation before the first step."""
        return next((evaluation for evaluation in self.evaluations if evaluation.step == 0), None)


def summarise(entries: Sequence[Entry], max_steps: int | None = None) -> Summary:
    """The summary of a journal's lines."""
    lines = list(entries)
    times = [float(line["time"]) for line in lines]
    steps = [int(line["step"]) for line in lines if line["kind"] == "step"]
    return Summary(
        steps=max(steps, default=0),
        max_steps=max_steps,
        seconds=_seconds(lines),
        started=min(times, default=None),
        ended=max(times, default=None),
        curve=journal_curve(lines, max_steps),
        evaluations=tuple(journal_evaluations(lines)),
        diagnoses=journal_diagnoses(lines),
    )


def _seconds(entries: Sequence[Entry]) -> float:
    """Time between attempts, when nothing trained, does not count."""
    spans: dict[int, list[float]] = {}
    for entry in entries:
        spans.setdefault(entry["attempt"], []).append(entry["time"])
    return sum(max(times) - min(times) for times in spans.values())
