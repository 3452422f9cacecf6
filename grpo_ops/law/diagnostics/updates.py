"""Vanishing updates: the gradient is exactly zero at most steps, or has all but died. The model no longer moves."""

import numpy as np

from grpo_ops.law.diagnostics.names import Metric
from grpo_ops.law.diagnostics.tracks import Track, standing_since
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_MOSTLY = 0.5
_DEAD = 1e-3
_ADVICE = "See whether groups have any spread, whether the learning rate has run out, and whether weights are frozen."


def detect(view: View) -> Finding | None:
    """The norm of the gradient against its own usual size."""
    track = view.track(Metric.GRAD_NORM)
    if track is None:
        return None
    dead = _dead(track)
    if dead.recent < _MOSTLY:
        return None
    begin = standing_since(dead.trailing, _MOSTLY, _MOSTLY / 2)
    if begin is None:
        return None
    evidence = f"The gradient is next to zero at {dead.recent:.0%} of the last steps."
    since = int(dead.steps[begin])
    return view.finding(Symptom.VANISHING_UPDATES, Severity.WARNING, since, evidence, _ADVICE, dead.recent)


def _dead(track: Track) -> Track:
    """1 at the steps whose gradient is next to nothing beside the run's larger ones, 0 at the others."""
    usual = float(np.quantile(track.values, 0.9))
    return Track(track.steps, (track.values <= _DEAD * max(usual, 0.0)).astype(np.float64))
