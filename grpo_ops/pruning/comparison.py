"""A trial against its incumbent at a check: the numbers of the tests, in the sign where more is better."""

from dataclasses import dataclass

import numpy as np

from grpo_ops.law.closed_form import final_level
from grpo_ops.pruning.own import has_stopped_rising
from grpo_ops.pruning.pairing import paired_z
from grpo_ops.pruning.reason import PruneReason
from grpo_ops.pruning.rivals import Field, Incumbent
from grpo_ops.pruning.rule import EARLY, PruneRule
from grpo_ops.pruning.types import TrialView

_GUARD_SHARE = 0.5


@dataclass(frozen=True)
class Comparison:
    """recent, reference: levels of this trial and of the incumbent's at this step; slack: what noise explains of both.

    law: the forecast of this trial's own curve; expected: the same with the slow-start guard; error: the standard
    deviation of both. paired: z on the same prompts, None where there are none. settled: it has risen, but not
    over the last fifth. best_finished: the level of the best finished trial. least_rise: what all finished trials still
    gained from here.
    """

    incumbent: Incumbent
    rule: PruneRule
    recent: float
    reference: float
    slack: float
    law: float
    expected: float
    error: float
    noise: float
    behind_lately: bool
    paired: float | None
    settled: bool
    best_finished: float
    least_rise: float = 0.0

    @property
    def is_behind(self) -> bool:
        """The first test: by more than noise, over the recent points and over the later half of them; or paired."""
        if self.paired is not None:
            return self.paired < -self.rule.paired_z
        return self.behind_lately and self.recent < self.reference - self.slack

    @property
    def is_leading(self) -> bool:
        return self.recent >= self.reference if self.paired is None else self.paired >= 0

    @property
    def doubt(self) -> float:
        share = 1.0 if self.paired is None else self.rule.paired_share
        return share * self.rule.caution * self.error

    @property
    def hopeful(self) -> float:
        """What the trial may still reach; of one that is settled, without the guard."""
        return self._ceiling if self.is_settled_below else self.expected + self.doubt

    @property
    def margin(self) -> float:
        return self.hopeful - self.incumbent.level

    @property
    def is_settled_below(self) -> bool:
        """The third test: it has stopped rising, and its own hopeful forecast ends below the best finished trial."""
        return self.settled and self._ceiling < self.best_finished

    @property
    def _ceiling(self) -> float:
        return (
            max(self.law, self.recent + self.least_rise)
            + max(self.rule.caution, self.rule.settled_caution) * self.error
        )

    @property
    def verdict(self) -> PruneReason:
        if self.is_settled_below:
            return PruneReason.HOPELESS
        if self.is_leading:
            return PruneReason.LEADING
        if not self.is_behind:
            return PruneReason.CLOSE_CALL
        if self.margin < 0:
            return PruneReason.HOPELESS
        unguarded = max(self.law, self.recent) + self.doubt < self.incumbent.level
        return PruneReason.SLOW_START if unguarded else PruneReason.WITHIN_REACH

    def numbers(self, sign: float) -> dict[str, float]:
        """What was compared, in the user's own sign."""
        signed = {name: sign * getattr(self, name) for name in ("recent", "reference", "law", "expected", "hopeful")}
        found = signed | {name: getattr(self, name) for name in ("slack", "doubt", "noise")}
        return found if self.paired is None else found | {"paired_z": self.paired}


def compare(trial: TrialView, field: Field, incumbent: Incumbent, rule: PruneRule, check: float) -> Comparison:
    """The comparison of `trial` with `incumbent` at `check`."""
    own, early = field.own, check < EARLY
    law, sd = final_level(own)
    recent = own.recent()
    return Comparison(
        incumbent,
        rule,
        recent=recent,
        reference=field.level_here(incumbent.rival),
        slack=rule.z1 * (rule.early_factor if early else 1.0) * field.standard_error * float(np.sqrt(2)),
        law=law,
        expected=max(law, recent + _GUARD_SHARE * field.rise_to_come()),
        error=float(np.hypot(sd, field.noise / np.sqrt(own.window))),
        noise=field.noise,
        behind_lately=field.is_behind_lately(incumbent.rival),
        paired=_paired(trial, incumbent, rule, own.last_step),
        settled=check >= rule.settled_from and has_stopped_rising(own),
        best_finished=field.best_finished(),
        least_rise=field.least_rise(),
    )


def _paired(trial: TrialView, incumbent: Incumbent, rule: PruneRule, step: int) -> float | None:
    found = paired_z(trial, incumbent.rival.view, step) if rule.metric == "eval_reward" else None
    return None if found is None else rule.sign * found
