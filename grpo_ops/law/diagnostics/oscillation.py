"""Oscillation: the reward swings up and down by far more than its noise, again and again."""

import math

import numpy as np

from grpo_ops.law.diagnostics.tracks import Track
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View
from grpo_ops.law.series import smoothed
from grpo_ops.law.types import Floats

_SWINGS = 4
_ERRORS = 6.0
_SHARE = 0.35
_ADVICE = "Lower the learning rate or the number of updates a batch; K * learning rate * refresh interval is too large."


def detect(view: View) -> Finding | None:
    """Turning points of the lightly smoothed reward that lie further apart than noise and a third of the range."""
    track = view.reward
    if len(track) < 24:
        return None
    window = max(3, len(track) // 25)
    smooth = smoothed(track.values, window)
    size = max(_SHARE * float(np.ptp(smooth)), _ERRORS * track.noise / math.sqrt(window))
    turns = turning_points(smooth, size)
    if len(turns) - 1 < _SWINGS or size <= 0:
        return None
    return _finding(view, smooth, turns, track)


def turning_points(values: Floats, size: float) -> list[int]:
    """Indices of alternating highs and lows, each at least `size` away from the one before.

    >>> turning_points(np.array([0.0, 1.0, 0.0, 0.1, 1.0, 0.2]), 0.5)
    [1, 2, 4]
    """
    turns: list[int] = []
    high, low, rising = 0, 0, None
    for index, value in enumerate(values):
        high = index if value > values[high] else high
        low = index if value < values[low] else low
        if rising is not False and values[high] - value >= size:
            turns += [high] if rising else []
            low, rising = index, False
        elif rising is not True and value - values[low] >= size:
            turns += [low] if rising is False else []
            high, rising = index, True
    return turns


def _finding(view: View, smooth: Floats, turns: list[int], track: Track) -> Finding:
    heights = np.abs(np.diff(smooth[turns]))
    period = 2 * float(np.median(np.diff(track.steps[turns])))
    evidence = (
        f"The reward turned {len(turns)} times by {float(np.median(heights)):.3g}, "
        f"about every {period:.0f} steps a full swing; one step's noise is {track.noise:.2g}."
    )
    since = int(track.steps[turns[0]])
    return view.finding(Symptom.OSCILLATION, Severity.WARNING, since, evidence, _ADVICE)
