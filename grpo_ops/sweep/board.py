"""What a sweep shows while it runs and at its end: one row a run, and the compute that was saved."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from grpo_ops.curve import RewardCurve
from grpo_ops.ending import Ending
from grpo_ops.supervise import RunResult

if TYPE_CHECKING:
    from grpo_ops.sweep.winner import Winner

#: Standard deviations from the middle of an 80 % band to its end.
_BAND = NormalDist().inv_cdf(0.9)


@dataclass(frozen=True, slots=True)
class Row:
    """One run (by run_key, in its last attempt).

    judged: the judged curve so far (training reward, or held-out evaluation), for a sparkline.
    forecast, low, high: the last forecast of the judged curve at max_steps, with its band.
    repeats_of: run_key of the run at the same point that this one repeats with another seed.
    measured: completions that were asked for to settle close calls.
    """

    key: str
    number: int
    parameters: Mapping[str, Any]
    max_steps: int
    attempt: int = 0
    ending: Ending | None = None
    reason: str = ""
    step: int = 0
    reward: float | None = None
    evaluation: float | None = None
    forecast: float | None = None
    low: float | None = None
    high: float | None = None
    judged: tuple[float, ...] = ()
    mlflow_run_id: str | None = None
    repeats_of: str | None = None
    measured: int = 0

    @property
    def state(self) -> str:
        return self.ending.value if self.ending else "running"

    @property
    def forecast_sd(self) -> float | None:
        """Standard deviation of the forecast as its 80 % band has it; None without a band."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2 / _BAND


@dataclass(frozen=True, slots=True)
class Board:
    """The rows of a study, in the order of their numbers.

    note: which runs failed, and what the sweep is about to do, if anything special. winner: at the end, the best with
    its uncertainty.
    """

    study: str
    asked: int
    rows: tuple[Row, ...] = ()
    note: str = ""
    winner: "Winner | None" = None

    @property
    def told(self) -> int:
        """Runs that count: their last attempt is complete or pruned, and they repeat no other."""
        over = [row for row in self.rows if row.ending and (row.ending.is_success or row.ending.is_pruned)]
        return sum(1 for row in over if row.repeats_of is None)

    @property
    def best(self) -> Row | None:
        """The row with the best held-out evaluation (or training reward) so far, None before the first."""
        first = next(iter(self.ranked()), None)
        return None if first is None or (first.evaluation is None and first.reward is None) else first

    @property
    def steps_used(self) -> int:
        """Steps of the runs that are over."""
        return sum(row.step for row in self.rows if row.ending)

    @property
    def steps_allowed(self) -> int:
        """Steps that the runs that are over would have had in full."""
        return sum(row.max_steps for row in self.rows if row.ending)

    @property
    def saved(self) -> float:
        """Share of the allowed steps that was not used; 0 for no rows."""
        return 1 - self.steps_used / self.steps_allowed if self.steps_allowed else 0.0

    @property
    def repeats(self) -> int:
        """Rows that repeat others with another seed."""
        return sum(1 for row in self.rows if row.repeats_of is not None)

    def count(self, ending: Ending) -> int:
        """Runs that ended so, without repeats."""
        return sum(1 for row in self.rows if row.ending is ending and row.repeats_of is None)

    @property
    def endings(self) -> str:
        """How the runs ended, in words: `3 finished, 5 hopeless`."""
        ended = ", ".join(f"{self.count(ending)} {ending.value}" for ending in Ending if self.count(ending))
        return (ended or "none ended") + (f"; {self.repeats} repeats with other seeds" if self.repeats else "")

    def ranked(self) -> list[Row]:
        """Rows by best held-out evaluation (then training reward), best first; rows without one last."""
        return sorted(self.rows, key=_rank, reverse=True)


#: Is called with the newest board whenever it has changed.
Show = Callable[[Board], None]


def concluded(row: Row, result: RunResult, reason: str | None = None) -> Row:
    """The row of a run that is over; `reason` says it better than the result where the judge stopped it."""
    best = result.best_evaluation
    return replace(
        row,
        attempt=result.attempt,
        ending=result.ending,
        reason=reason or result.reason,
        step=result.step,
        reward=final_reward(result.curve),
        evaluation=best.mean if best else None,
    )


def leaderboard(board: Board) -> list[dict[str, Any]]:
    """The ranked rows as plain tables can carry them."""
    return [
        {
            "trial": row.number,
            "run_key": row.key,
            "ending": row.state,
            "reason": row.reason,
            "steps": row.step,
            "max_steps": row.max_steps,
            "reward": row.reward,
            "forecast": row.forecast,
            "forecast_low": row.low,
            "forecast_high": row.high,
            "eval_reward": row.evaluation,
            "mlflow_run_id": row.mlflow_run_id,
            **({"repeats_of": row.repeats_of} if row.repeats_of else {}),
            **({"measured_completions": row.measured} if any(row.measured for row in board.rows) else {}),
            **row.parameters,
        }
        for row in board.ranked()
    ]


def study_note(board: Board) -> str:
    """What came of a study, in markdown."""
    best = next(iter(board.ranked()), None)
    lines = [
        f"{board.told} of {board.asked} trials: {board.endings}.",
        f"{board.steps_used} of {board.steps_allowed} steps used, {board.saved:.0%} saved.",
    ]
    if best is not None and best.evaluation is not None:
        lines.append(f"Best held-out evaluation: {best.evaluation:.3f} by {best.key} ({best.state}).")
    if board.winner is not None:
        lines += [board.winner.sentence, board.winner.doubt]
    return "\n\n".join(line for line in lines if line)


def final_reward(curve: RewardCurve) -> float | None:
    """Mean training reward over the last tenth of the points; None for an empty curve."""
    last = curve.rewards[-max(1, len(curve) // 10) :]
    return math.fsum(last) / len(last) if last else None


def _rank(row: Row) -> tuple[float, float]:
    worst = float("-inf")
    return (
        worst if row.evaluation is None else row.evaluation,
        worst if row.reward is None else row.reward,
    )
