"""Collapse: the reward has lost half of what it had won, or clearly fallen below its start, and stays there."""

import numpy as np

from grpo_ops.law.diagnostics.tracks import Track, standing_since
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_ERRORS = 5.0
_NOISES = 1.0
_ADVICE = (
    "Go back to the best checkpoint and continue with a lower learning rate, more KL penalty or fewer updates a batch."
)


def detect(view: View) -> Finding | None:
    """The smoothed reward against its own best; the fall must exceed its noise and last until now."""
    track = view.reward
    best = int(np.argmax(track.smooth))
    drop = float(track.smooth[best]) - max(track.recent, float(track.smooth[-1]))
    needed = _needed(track, best)
    if drop <= needed:
        return None
    begin = standing_since(-track.smooth[best:], -(float(track.smooth[best]) - needed), -_halfway(track, best, needed))
    if begin is None or len(track) - best - begin < max(4, len(track) // 20):
        return None
    return _finding(view, best, int(track.steps[best + begin]), drop)


def _needed(track: Track, best: int) -> float:
    """A fall of this much is a collapse: beyond the noise, and half of what had been won."""
    won = float(track.smooth[best]) - min(track.start, float(track.smooth[0]))
    return max(0.5 * won, _ERRORS * track.smooth_error, _NOISES * track.noise)


def _halfway(track: Track, best: int, needed: float) -> float:
    """Where the fall counts as undone: half of it won back."""
    return float(track.smooth[best]) - needed / 2


def _finding(view: View, best: int, since: int, drop: float) -> Finding:
    track = view.reward
    top, low = float(track.smooth[best]), float(np.min(track.smooth))
    severity = Severity.CRITICAL if not view.is_rising and drop >= 0.6 * (top - low) else Severity.WARNING
    evidence = f"The reward fell from {top:.3g} around step {track.steps[best]} to {track.recent:.3g}."
    return view.finding(Symptom.COLLAPSE, severity, since, evidence, _ADVICE, lost=drop)
