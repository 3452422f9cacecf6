"""What a trial shows on its own, without any other: that it has collapsed, or that it has reached its plateau."""

import numpy as np

from grpo_ops.law.closed_form import final_level
from grpo_ops.law.series import Series, recent_window
from grpo_ops.pruning.rule import PruneRule, marks

_NO_RISE_OVER = 0.2
_ROUNDING = 1e-6


def has_collapsed(own: Series, rule: PruneRule) -> bool:
    """Far below its own best, by noise and by its own gain, at the last few twentieths of the run."""
    counts = _counts_at_marks(own)
    if len(counts) <= rule.collapse_marks:
        return False
    levels = np.array([own.recent(count) for count in counts])
    best = np.maximum.accumulate(levels)
    error = own.noise * np.sqrt(2 / np.array([recent_window(count) for count in counts]))
    far = (best - levels > rule.collapse_z * error) & (best - levels > rule.collapse_share * (best - own.start))
    return bool(far[-rule.collapse_marks :].all())


def has_reached_plateau(own: Series, rule: PruneRule) -> bool:
    """Little gain is left by a hopeful forecast, there was no rise lately, and the trial stands at its own best."""
    if own.position(own.last_step) < round(rule.plateau_from * own.n):
        return False
    now, gain = own.recent(), own.recent() - own.start
    if not has_stopped_rising(own) or now < _best_level(own) - standard_error(own):
        return False
    mean, sd = final_level(own)
    return mean + rule.plateau_z * sd - now < rule.min_gain * gain


def has_stopped_rising(own: Series) -> bool:
    """It has risen, by more than noise explains, but not lately: what never rose may be a slow start."""
    error = standard_error(own)
    return own.recent() - own.start > 2 * error and rise_lately(own) <= error


def rise_lately(own: Series) -> float:
    """How much the recent level has risen over the last fifth of the planned points."""
    return own.recent() - own.recent(max(1, len(own) - max(1, round(_NO_RISE_OVER * own.n))))


def standard_error(own: Series) -> float:
    """Of the difference of two recent levels."""
    return own.noise * float(np.sqrt(2 / recent_window(len(own))))


def _counts_at_marks(own: Series) -> list[int]:
    """How many points there were when each twentieth was completed."""
    wanted = [max(1, round(mark * own.n)) - _ROUNDING for mark in marks()]
    counts = np.searchsorted(own.x * own.n, wanted) + 1
    return sorted({int(count) for count in counts if count <= len(own)})


def _best_level(own: Series) -> float:
    return max(own.recent(count) for count in _counts_at_marks(own))
