"""What came of pruning in a study, in words: how many trials were pruned and why, or why none was."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from optuna.trial import FrozenTrial, TrialState

from grpo_ops.pruning.reason import PruneReason
from grpo_ops.pruning.types import DECISION_ATTRIBUTE


def summary(trials: Sequence[FrozenTrial], first_check: int) -> str:
    """One or two sentences about the trials that have begun; first_check: the step before which none is pruned."""
    begun = [trial for trial in trials if trial.state != TrialState.WAITING]
    pruned = [trial for trial in begun if trial.state == TrialState.PRUNED]
    why = _why_pruned(pruned) if pruned else _why_none(begun, first_check)
    return f"{len(pruned)} of {len(begun)} trials pruned: {why}"


def _why_pruned(pruned: Sequence[FrozenTrial]) -> str:
    reasons = Counter(_last_of(trial).get("reason", "by somebody else") for trial in pruned)
    return ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())


def _why_none(begun: Sequence[FrozenTrial], first_check: int) -> str:
    longest = max((max(trial.intermediate_values, default=-1) for trial in begun), default=-1)
    if not begun:
        return "no trial has begun"
    if longest < 0:
        return "none has reported a value; call trial.report(value, step)"
    if longest < first_check:
        return f"the first check is at step {first_check}, but no trial has reported a step beyond {longest}"
    reasons = Counter(last["reason"] for trial in begun if (last := _last_of(trial)))
    if not reasons:
        return f"none asked trial.should_prune() at step {first_check} or later"
    most, count = reasons.most_common(1)[0]
    return f"of {reasons.total()} that were judged, {count} went on for this reason: {PruneReason(most).words}"


def _last_of(trial: FrozenTrial) -> Mapping[str, Any]:
    last = trial.user_attrs.get(DECISION_ATTRIBUTE)
    return last if isinstance(last, dict) and last.get("reason") in set(PruneReason) else {}
