"""The other trials as one trial meets them at its step: whose level is to be beaten, and how fast they rose."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from grpo_ops.law.closed_form import final_level
from grpo_ops.law.series import Series, recent_window
from grpo_ops.pruning.rule import PruneRule
from grpo_ops.pruning.types import TrialState, TrialView

_LOOK_AHEAD = 0.1
_FEWEST_AGREEING = 3


@dataclass(frozen=True)
class Rival:
    """Another trial, and its series (more is better)."""

    view: TrialView
    series: Series

    @property
    def key(self) -> str:
        return self.view.key

    @property
    def state(self) -> TrialState:
        return self.view.state


@dataclass(frozen=True)
class Incumbent:
    """The level that a trial must beat, and the rival that set it."""

    level: float
    rival: Rival


@dataclass(frozen=True)
class Field:
    """One trial among its rivals; failed trials and those without points are left out."""

    own: Series
    rivals: tuple[Rival, ...]
    rule: PruneRule

    @classmethod
    def of(cls, own: Series, others: Sequence[TrialView], rule: PruneRule) -> "Field":
        rivals = (Rival(other, other.series(rule)) for other in others if other.state != "failed")
        return cls(own, tuple(rival for rival in rivals if rival.series.steps), rule)

    @cached_property
    def finished(self) -> tuple[Rival, ...]:
        return tuple(rival for rival in self.rivals if rival.state == "finished")

    @cached_property
    def noise(self) -> float:
        """s: median noise of one point over the finished trials and this one."""
        return float(np.median([self.own.noise, *(rival.series.noise for rival in self.finished)]))

    @property
    def standard_error(self) -> float:
        """s / sqrt(k): of a recent level at this step."""
        return float(self.noise / np.sqrt(recent_window(len(self.own))))

    def level_here(self, rival: Rival) -> float:
        """The rival's recent level at this trial's step."""
        return rival.series.recent(self._count_here(rival))

    def is_behind_lately(self, rival: Rival) -> bool:
        """Whether this trial is below the rival at this step in the later half of the recent points as well."""
        return _late_level(self.own, len(self.own)) < _late_level(rival.series, self._count_here(rival))

    def levels_here(self) -> list[float]:
        """Recent levels, at this step, of this trial and of all rivals that got so far."""
        return [self.own.recent(), *(self.level_here(rival) for rival in self.rivals if self._got_here(rival))]

    def incumbent(self) -> Incumbent | None:
        """The best final level of the finished, or what a running trial is held to be good for.

        Of equal ones the one whose key comes last, whatever the order of the others.
        """
        finished = self._best_of_finished
        best = [Incumbent(finished.series.final, finished)] if finished else []
        for rival in self.rivals:
            if rival.state == "running" and self._got_here(rival):
                best.append(Incumbent(self._worth(rival), rival))
        return max(best, key=lambda incumbent: (incumbent.level, incumbent.rival.key), default=None)

    def rise_to_come(self) -> float:
        """What the finished trials gained from here to their ends (median); never below 0, and 0 without any."""
        return max(0.0, float(np.median(self._rises))) if self._rises else 0.0

    def least_rise(self) -> float:
        """What each of the finished trials gained at least from here; never below 0, and 0 for fewer than three."""
        return max(0.0, min(self._rises)) if len(self._rises) >= _FEWEST_AGREEING else 0.0

    def best_finished(self) -> float:
        """The best final level of the finished; minus infinity without any."""
        best = self._best_of_finished
        return best.series.final if best else -np.inf

    @cached_property
    def _best_of_finished(self) -> Rival | None:
        return max(self.finished, key=lambda rival: (rival.series.final, rival.key), default=None)

    @cached_property
    def _rises(self) -> list[float]:
        return [rival.series.final - self.level_here(rival) for rival in self.finished]

    def _count_here(self, rival: Rival) -> int:
        return max(1, rival.series.count(self.own.last_step))

    def _got_here(self, rival: Rival) -> bool:
        return rival.series.last_step >= self.own.last_step

    def _worth(self, rival: Rival) -> float:
        """Of a running trial: its level a little ahead less 2 standard errors; later its forecast, if that is more."""
        ahead = self._level_ahead(rival) - 2 * self.standard_error
        if len(rival.series) < self.rule.running_from * rival.series.n:
            return ahead
        law, sd = final_level(rival.series)
        error = float(np.hypot(sd, self.noise / np.sqrt(rival.series.window)))
        return max(ahead, law - self.rule.running_caution * error)

    def _level_ahead(self, rival: Rival) -> float:
        ahead = rival.series.count(self.own.last_step) + round(_LOOK_AHEAD * rival.series.n)
        return rival.series.recent(min(len(rival.series), ahead))


def _late_level(series: Series, count: int) -> float:
    """Mean of the later half of the recent points among the first `count`."""
    return series.mean_before(count, max(1, recent_window(count) // 2))
