"""decide(): whether a trial goes on, from its curve and the other trials. Pure; doubt never prunes.

Source: rule R, measured by replay on twelve recorded sweeps: two tests that must agree, with the reference of the
first being the trial that sets the incumbent, a slow-start guard that never lowers a forecast, and gated early checks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grpo_ops.law.closed_form import final_level
from grpo_ops.law.series import Series
from grpo_ops.pruning.ahead import forecast_trial
from grpo_ops.pruning.own import has_collapsed, has_reached_plateau
from grpo_ops.pruning.reason import PruneReason
from grpo_ops.pruning.rivals import Field, Incumbent
from grpo_ops.pruning.rule import EARLY, PruneRule
from grpo_ops.pruning.types import PruneDecision, TrialView

_FEWEST_POINTS = 3
_GUARD_SHARE = 0.5
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
    own = Series.of(trial.judged(rule), sign=rule.sign)
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

    def decision(self, reason: PruneReason, found: "_Comparison | None" = None) -> PruneDecision:
        judged = reason.stops or (self.check is not None and reason not in _NOT_JUDGED)
        shown = forecast_trial(self.trial, self.others, self.rule) if judged else None
        if found is None:
            return PruneDecision(reason, self.own.last_step, self.check, shown)
        incumbent, sign = found.incumbent, self.rule.sign
        numbers, key = found.numbers(sign), incumbent.rival.key
        return PruneDecision(
            reason, self.own.last_step, self.check, shown, sign * incumbent.level, key, found.margin, numbers
        )


@dataclass(frozen=True)
class _Comparison:
    """Both tests' numbers, in the sign where more is better."""

    incumbent: Incumbent
    recent: float
    reference: float
    slack: float
    law: float
    expected: float
    doubt: float
    noise: float

    @property
    def is_behind(self) -> bool:
        return self.recent < self.reference - self.slack

    @property
    def hopeful(self) -> float:
        return self.expected + self.doubt

    @property
    def margin(self) -> float:
        return self.hopeful - self.incumbent.level

    def numbers(self, sign: float) -> dict[str, float]:
        signed = {name: sign * getattr(self, name) for name in ("recent", "reference", "law", "expected", "hopeful")}
        return signed | {name: getattr(self, name) for name in ("slack", "doubt", "noise")}


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
    early = case.check < EARLY
    found = _comparison(field, incumbent, case.rule, early)
    if early and not _can_be_told_apart(field, case.rule):
        return case.decision(PruneReason.TOO_ALIKE, found)
    return case.decision(_verdict(found), found)


def _verdict(found: _Comparison) -> PruneReason:
    if found.recent >= found.reference:
        return PruneReason.LEADING
    if not found.is_behind:
        return PruneReason.CLOSE_CALL
    if found.margin < 0:
        return PruneReason.HOPELESS
    unguarded = max(found.law, found.recent) + found.doubt < found.incumbent.level
    return PruneReason.SLOW_START if unguarded else PruneReason.WITHIN_REACH


def _comparison(field: Field, incumbent: Incumbent, rule: PruneRule, early: bool) -> _Comparison:
    own, error = field.own, field.standard_error
    slack = rule.z1 * (rule.early_factor if early else 1.0) * error * float(np.sqrt(2))
    law, sd = final_level(own)
    recent = own.recent()
    expected = max(law, recent + _GUARD_SHARE * field.rise_to_come())
    doubt = rule.caution * float(np.hypot(sd, field.noise / np.sqrt(own.window)))
    reference = field.level_here(incumbent.rival)
    return _Comparison(incumbent, recent, reference, slack, law, expected, doubt, field.noise)


def _can_be_told_apart(field: Field, rule: PruneRule) -> bool:
    return bool(field.finished) and float(np.std(field.levels_here())) > rule.early_spread * field.standard_error
