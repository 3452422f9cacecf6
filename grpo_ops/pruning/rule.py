"""When we dare to stop a trial: every setting of the rule, vetted by replay on recorded sweeps."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from grpo_ops.errors import LawError
from grpo_ops.law.series import Series

EARLY = 0.2
_STRIDE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneRule:
    """What stops a trial, and how sure that must be.

    Two tests that must agree (behind the incumbent; no hope to catch up), a third one for trials that have stopped
    rising below the best finished one, a collapse stop and a plateau stop.
    """

    caution: float = 0.6
    """Standard deviations added to the forecast before a trial counts as hopeless; 0.5 is bold, 0.8 to 1 careful."""
    checks: tuple[float, ...] = (0.10, 0.15, 0.20, 0.25, 0.30, 0.35, 0.40, 0.45, 0.50, 0.60, 0.70, 0.80)
    """Shares of the planned points at which a trial is compared; those before 0.2 are early checks."""
    min_steps: int | None = None
    """First step at which a trial is compared, itself a check; without it the first of `checks`."""
    z1: float = 0.75
    """Standard errors that a trial must be behind the incumbent at the same step."""
    paired_z: float = 2.0
    """Standard errors that it must be behind where both were evaluated on the same prompts; takes the place of z1."""
    paired_share: float = 0.25
    """Share of `caution` that is enough where the first test was paired: it says more there."""
    settled_caution: float = 0.6
    """As caution, at least, for a trial that has stopped rising: it need not be behind."""
    settled_from: float = 0.4
    """Share of the planned points before which no trial counts as one that has stopped rising."""
    early_factor: float = 2.0
    """Multiplies z1 at early checks."""
    early_spread: float = 3.0
    """Early checks need trials that differ by so many standard errors."""
    running_from: float = 0.5
    """Share of its planned points from which a trial that still runs is held to be as good as its own forecast."""
    running_caution: float = 1.5
    """Standard deviations taken off that forecast."""
    metric: Literal["reward", "eval_reward"] = "reward"
    """Judge the training reward or the held-out evaluations."""
    direction: Literal["maximize", "minimize"] = "maximize"
    plateau: bool = False
    """Stop, as a success, a trial that has given what it will give."""
    min_gain: float = 0.02
    """Gain left, as a share of the trial's own gain, below which it has reached its plateau."""
    plateau_from: float = 0.4
    """Share of the planned points before which no plateau is called."""
    plateau_z: float = 1.0
    """Standard deviations that are added to the forecast before a plateau is called."""
    collapse: bool = True
    """Stop a trial that has fallen far below its own best."""
    collapse_z: float = 6.0
    """Standard errors of the fall."""
    collapse_share: float = 0.5
    """Share of its own gain that the trial must have lost."""
    collapse_marks: int = 3
    """Consecutive twentieths of the run at which both must hold."""

    def __post_init__(self) -> None:
        for fault in self._faults():
            raise LawError(fault)

    def _faults(self) -> Iterator[str]:
        for name in (
            "caution",
            "z1",
            "paired_z",
            "paired_share",
            "early_factor",
            "early_spread",
            "running_caution",
            "settled_caution",
            "min_gain",
            "plateau_z",
            "collapse_z",
        ):
            if not getattr(self, name) >= 0:
                yield f"{name} cannot be negative but got {getattr(self, name)}"
        if not all(0 < check < 1 for check in self.checks):
            yield f"checks must lie between 0 and 1 but got {self.checks}"
        if self.min_steps is not None and self.min_steps < 1:
            yield f"min_steps must be at least 1 but got {self.min_steps}"
        if self.collapse_marks < 1:
            yield f"collapse_marks must be at least 1 but got {self.collapse_marks}"
        if self.direction not in ("maximize", "minimize"):
            yield f"direction must be 'maximize' or 'minimize' but got {self.direction!r}"
        if self.metric not in ("reward", "eval_reward"):
            yield f"metric must be 'reward' or 'eval_reward' but got {self.metric!r}"

    @property
    def sign(self) -> float:
        """What a reward is multiplied by so that more is better."""
        return 1.0 if self.direction == "maximize" else -1.0

    def check_at(self, own: Series, since: int | None = None) -> float | None:
        """The latest check that fell due after step `since` (default: the point before the last one), else None."""
        before, now = _before(own, since), own.last_step
        if self.min_steps is None:
            return max(_due(own, self.checks, before, now), default=None)
        if now < self.min_steps:
            return None
        first = before is None or before < self.min_steps
        due = _due(own, self.checks, None if first else before, now)
        return max([*due, self.min_steps / own.horizon] if first else due, default=None)

    def mark_at(self, own: Series, since: int | None = None) -> bool:
        """Whether a twentieth of the run was completed after step `since`: then a trial is held to itself."""
        return bool(_due(own, marks(), _before(own, since), own.last_step))


def marks() -> tuple[float, ...]:
    """The twentieths of a run."""
    return tuple(_STRIDE * index for index in range(1, 21))


def _before(own: Series, since: int | None) -> int | None:
    if since is not None:
        return since
    return own.steps[-2] if len(own) > 1 else None


def _due(own: Series, shares: tuple[float, ...], before: int | None, now: int) -> list[float]:
    done = 0.0 if before is None else own.position(before)
    return [share for share in shares if done < max(1, round(share * own.n)) <= own.position(now)]
