"""What a replay says of one rule at one setting, in one sweep or over all."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from grpo_ops.replay.protocol import Outcome, mean_of

MEAN = "mean"
_ERRORS = ("saved_se", "regret_se")


@dataclass(frozen=True, slots=True)
class SweepRow:
    """Means over replicates, all as shares of 1. saved: of the steps that full runs take. regret: of the best score.

    keeps_best: how often the best trial was not pruned. near: how often what was kept is within 1.4 standard errors of
    it. false_prunes: of the pruned trials, those whose score beats the incumbent of that time. ms_per_decision: in
    should_prune. saved_se, regret_se: standard errors of the means. evaluations: completions spent on evaluation over
    those spent on training, None where not known.
    """

    sweep: str
    rule: str
    setting: str
    workers: int
    saved: float
    regret: float
    keeps_best: float
    near: float
    false_prunes: float
    ms_per_decision: float
    replicates: int
    saved_se: float
    regret_se: float
    evaluations: float | None

    @classmethod
    def of(
        cls, sweep: str, rule: str, setting: str, workers: int, outcomes: Sequence[Outcome], ms: float
    ) -> "SweepRow":
        saved, saved_se = mean_of([outcome.saved for outcome in outcomes])
        regret, regret_se = mean_of([outcome.regret for outcome in outcomes])
        keeps, near = (float(np.mean([getattr(one, name) for one in outcomes])) for name in ("keeps_best", "near"))
        false = sum(one.false for one in outcomes) / max(1, sum(one.pruned for one in outcomes))
        spent = [one.evaluations for one in outcomes]
        known = [one for one in spent if one is not None]
        evaluations = float(np.mean(known)) if known and len(known) == len(spent) else None
        ends = (len(outcomes), saved_se, regret_se, evaluations)
        return cls(sweep, rule, setting, workers, saved, regret, keeps, near, false, ms, *ends)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def mean_sweep_rows(rows: Sequence[SweepRow]) -> list[SweepRow]:
    """For each rule, setting and number of workers the mean over its sweeps, which weigh equally."""
    groups: dict[tuple[str, str, int], list[SweepRow]] = defaultdict(list)
    for row in rows:
        groups[row.rule, row.setting, row.workers].append(row)
    return [_mean(group) for group in groups.values()]


def _mean(rows: Sequence[SweepRow]) -> SweepRow:
    names = ("saved", "regret", "keeps_best", "near", "false_prunes", "ms_per_decision")
    means: dict[str, Any] = {name: float(np.mean([getattr(row, name) for row in rows])) for name in names}
    errors: dict[str, Any] = {name: _error_of_mean([getattr(row, name) for row in rows]) for name in _ERRORS}
    spent = [row.evaluations for row in rows if row.evaluations is not None]
    means["evaluations"] = float(np.mean(spent)) if spent and len(spent) == len(rows) else None
    return replace(rows[0], sweep=MEAN, replicates=sum(row.replicates for row in rows), **means, **errors)


def _error_of_mean(errors: Sequence[float]) -> float:
    """Standard error of a mean of independent means."""
    return float(np.sqrt(np.sum(np.square(errors)))) / len(errors)
