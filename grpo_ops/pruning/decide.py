"""decide(): whether a trial goes on, from its curve and the other trials. Pure; doubt never prunes.

Source: rule R (two tests that must agree, with the reference of the first being the trial that sets the incumbent, a
slow-start guard that never lowers a forecast, and gated early checks), and what was added here by replay on recorded
sweeps: more checks, a first test that must hold in the later half of the recent points as well, or on the same prompts
where outcomes are known, and a third test for trials that have stopped rising below the best finished one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grpo_ops.law.series import Series
from grpo_ops.pruning.ahead import forecast_trial
from grpo_ops.pruning.comparison import Comparison, compare
from grpo_ops.pruning.own import has_collapsed, has_reached_plateau
from grpo_ops.pruning.reason import PruneReason
from grpo_ops.pruning.rivals import Field
from grpo_ops.pruning.rule import EARLY, PruneRule
from grpo_ops.pruning.types import PruneDecision, TrialView

_FEWEST_POINTS = 3
_NOT_JUDGED = (PruneReason.TOO_FEW_POINTS, PruneReason.NO_HORIZON)


def decide(
    trial: TrialView, others: Sequence[TrialView] = (), rule: PruneRule | None = None, since: int | None = None
) -> PruneDecision:
    """Whether `trial` goes on after its last point; without `others` it is judged alone.

    Ask after each new point of the judged curve (for evaluations: after each evaluation), since a check falls due with
    the point that reaches it and is over with the next one.

    others: the rest of the study, in any state and order. since: the step of the last decision, where not every point
    was asked about; a check that fell due after it counts now.
    """
    rule = rule or PruneRule()
    own = trial.series(rule)
    case = _Case(trial, others, rule, own, rule.check_at(own, since) if len(own) else None)
    if len(own) < _FEWEST_POINTS:
        return case.decision(PruneReason.TOO_FEW_POINTS)
    if trial.curve.max_steps is None:
        return case.decision(PruneReason.NO_HORIZON)
    return _judge(case, rule.mark_at(own, since))


@dataclass(frozen=True)
class _Case:
    trial: TrialView
    others: Sequence[TrialView]
    rule: PruneRule
    own: Series
    check: float | None

    def decision(self, reason: PruneReason, found: Comparison | None = None) -> PruneDecision:
        judged = reason.stops or (self.check is not None and reason not in _NOT_JUDGED)
        shown = forecast_trial(self.trial, self.others, self.rule) if judged else None
        if found is None:
            return PruneDecision(reason, self.own.last_step, self.check, shown)
        incumbent, sign = found.incumbent, self.rule.sign
        numbers, key = found.numbers(sign), incumbent.rival.key
        return PruneDecision(
            reason, self.own.last_step, self.check, shown, sign * incumbent.level, key, found.margin, numbers
        )


def _judge(case: _Case, is_mark: bool) -> PruneDecision:
    rule, own = case.rule, case.own
    if rule.collapse and is_mark and has_collapsed(own, rule):
        return case.decision(PruneReason.DIVERGED)
    compared = _compare(case)
    if rule.plateau and is_mark and not compared.stop and has_reached_plateau(own, rule):
        return case.decision(PruneReason.PLATEAU)
    return compared


def _compare(case: _Case) -> PruneDecision:
    if case.check is None:
        return case.decision(PruneReason.NOT_A_CHECK)
    field = Field.of(case.own, case.others, case.rule)
    incumbent = field.incumbent()
    if incumbent is None:
        return case.decision(PruneReason.NO_INCUMBENT)
    found = compare(case.trial, field, incumbent, case.rule, case.check)
    if case.check < EARLY and not _may_be_judged_early(field, found, case.rule):
        return case.decision(PruneReason.TOO_ALIKE, found)
    return case.decision(found.verdict, found)


def _may_be_judged_early(field: Field, found: Comparison, rule: PruneRule) -> bool:
    """A trial must have finished, and noise must not be all that tells trials apart; pairing takes care of noise."""
    if not field.finished:
        return False
    return found.paired is not None or float(np.std(field.levels_here())) > rule.early_spread * field.standard_error
