"""What one process of a sweep knows while it works: live runs, runs that are over, slots, costs."""

import time
from dataclasses import dataclass, field

import optuna

from grpo_ops.pruning import TrialView
from grpo_ops.supervise import Fleet, LiveRun
from grpo_ops.sweep.board import Board, Row
from grpo_ops.sweep.budget import Purse
from grpo_ops.sweep.opening import Setting
from grpo_ops.sweep.resume import Past
from grpo_ops.sweep.slots import Slot, Slots
from grpo_ops.sweep.watch import Watch
from grpo_ops.sweep.winner import Winner
from grpo_ops.tracking import Upload

_MOST_FAILURES_IN_A_ROW = 3
_MOST_TROUBLES = 3
_STOPPING = "stopping: trainers save their checkpoints (once more to end them now)"


@dataclass(eq=False)
class Live:
    """A run whose trainer works, or is being ended. reported: the last step that Optuna has.

    is_known: whether Optuna takes reports on it.
    """

    trial: optuna.Trial
    watch: Watch
    slot: Slot | None = None
    reported: int = -1
    is_known: bool = True


@dataclass(eq=False)
class State:
    """failures: why runs failed since the last one that did not. refused: why no further trial is started, if so.

    troubles: by run_key, in words, runs that failed and have not ended well since.
    """

    setting: Setting
    fleet: Fleet
    slots: Slots
    purse: Purse
    live: dict[LiveRun, Live] = field(default_factory=dict)
    past: dict[str, Past] = field(default_factory=dict)
    uploads: list[Upload] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    troubles: dict[str, str] = field(default_factory=dict)
    refused: str | None = None
    winner: Winner | None = None
    beaten: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, setting: Setting, fleet: Fleet) -> "State":
        spec = setting.spec
        return cls(setting, fleet, Slots.of(spec.parallel, spec.devices), Purse(spec.budget))

    @property
    def board(self) -> Board:
        rows = self._rows
        name, asked = self.setting.study.study_name, self.setting.spec.trials
        return Board(name, asked, tuple(sorted(rows, key=lambda row: row.number)), self._note, self.winner)

    @property
    def wanted(self) -> int:
        """Runs that are still to be begun."""
        return self.setting.spec.trials - sum(row.repeats_of is None for row in self._rows)

    @property
    def has_given_up(self) -> bool:
        return len(self.failures) >= _MOST_FAILURES_IN_A_ROW

    @property
    def is_winding_up(self) -> bool:
        """Whether nothing more is started: on an interrupt, or after failures in a row."""
        return self.fleet.interrupted is not None or self.has_given_up

    def others(self, run: LiveRun) -> list[TrialView]:
        """All runs but this one, as its judge sees them."""
        running = [live.watch.view() for other, live in self.live.items() if other is not run]
        return [past.view for past in self.past.values()] + running

    @property
    def _rows(self) -> list[Row]:
        return [past.row for past in self.past.values()] + [live.watch.row for live in self.live.values()]

    def show(self) -> None:
        self.setting.show(self.board)

    @property
    def _note(self) -> str:
        if self.fleet.interrupted and self.fleet.runs:
            return _STOPPING
        said = list(self.troubles.values())[-_MOST_TROUBLES:]
        if self.refused is not None:
            said.append(f"{'no further trial is started as yet' if self.live else 'ended early'}: {self.refused}")
        return "; ".join(said)
