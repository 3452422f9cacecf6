"""Plateau: the reward has learnt what it will learn and has been flat for a good part of the run."""

import numpy as np

from grpo_ops.law.diagnostics.tracks import Track
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_REACHED = 0.95
_NOTED, _WARNED = 0.3, 0.5
_ADVICE = "Stop and keep the best checkpoint, or change what it learns from: harder prompts, more completions a prompt."


def detect(view: View) -> Finding | None:
    """A clear rise, then at least 30 % of the run without any; half of the run is a warning."""
    track = view.reward
    if len(track) < 20 or not track.has_risen(6.0):
        return None
    begin = _reached(track)
    flat = track.after(int(track.steps[begin]))
    share = view.steps_since(int(track.steps[begin])) / view.steps_so_far
    if flat is None or share < _NOTED or _still_gains(track, flat) or _wanders(track, begin):
        return None
    severity = Severity.WARNING if share >= _WARNED else Severity.INFO
    level, since = float(np.mean(flat.values)), int(track.steps[begin])
    evidence = f"The reward rose from {track.start:.3g} to {level:.3g} by step {since} and has not risen since."
    return view.finding(Symptom.PLATEAU, severity, since, evidence, _ADVICE)


def _reached(track: Track) -> int:
    """The first point whose smoothed value has 95 % of the way to its best fifth, or to the recent level, behind it."""
    best = float(np.mean(np.sort(track.smooth)[-max(1, len(track) // 5) :]))
    goal = track.start + _REACHED * (max(best - track.smooth_error, track.recent) - track.start)
    return int(np.argmax(track.smooth >= goal))


def _still_gains(track: Track, flat: Track) -> bool:
    """Whether the second half of the flat part lies above its first by a tenth of the rise, or may well do so."""
    half = len(flat) // 2
    gain = float(np.mean(flat.values[half:]) - np.mean(flat.values[:half]))
    return gain > 0.1 * track.gain or (flat.trend().rises(0.05) and gain > 0.03 * track.gain)


def _wanders(track: Track, begin: int) -> bool:
    """Whether it left its level since by a quarter of the rise: it rose higher and fell, which is no plateau."""
    later = track.smooth[begin:]
    away = float(np.max(np.abs(later - np.mean(later))))
    return away > 0.25 * track.gain + 2 * track.smooth_error
