"""What a backtest says of one source, at one progress, of one method."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from grpo_ops.law.types import or_none
from grpo_ops.replay.scores import Score


@dataclass(frozen=True, slots=True)
class BacktestRow:
    """Scores over `n` forecasts, in units of the source's range: see `grpo_ops.replay.backtest`.

    abs_error_median, abs_error_p90: of |mean - truth|. crps: continuous ranked probability score. coverage: part of
    the bands that hold the truth. width: mean width of the bands. A point forecast has width and coverage 0.
    """

    source: str
    progress: float
    method: str
    siblings: int
    n: int
    abs_error_median: float
    abs_error_p90: float
    crps: float
    coverage: float
    width: float

    @classmethod
    def of(cls, source: str, progress: float, method: str, siblings: int, scores: Sequence[Score]) -> "BacktestRow":
        errors = [score.error for score in scores]
        return cls(
            source,
            progress,
            method,
            siblings,
            len(scores),
            float(np.median(errors)),
            float(np.percentile(errors, 90)),
            *(float(np.mean([getattr(score, name) for score in scores])) for name in ("crps", "covered", "width")),
        )

    def as_dict(self) -> dict[str, Any]:
        return {name: or_none(value) if isinstance(value, float) else value for name, value in asdict(self).items()}


def mean_rows(rows: Sequence[BacktestRow]) -> list[BacktestRow]:
    """One row for each progress, method and number of siblings: the means over its sources, which weigh equally."""
    groups: dict[tuple[float, str, int], list[BacktestRow]] = defaultdict(list)
    for row in rows:
        groups[row.progress, row.method, row.siblings].append(row)
    return [_mean(group) for group in groups.values()]


def _mean(group: Sequence[BacktestRow]) -> BacktestRow:
    first = group[0]
    numbers = ("abs_error_median", "abs_error_p90", "crps", "coverage", "width")
    means = (float(np.mean([getattr(row, name) for row in group])) for name in numbers)
    label = f"mean of {len(group)}"
    return BacktestRow(label, first.progress, first.method, first.siblings, sum(row.n for row in group), *means)
