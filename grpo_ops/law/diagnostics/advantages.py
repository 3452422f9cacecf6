"""Advantage collapse: rewards differ, yet the advantages made of them are all but zero. A fault of scaling, mostly."""

from grpo_ops.law.diagnostics.names import Metric
from grpo_ops.law.diagnostics.tracks import standing_since
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_GONE = 0.15
_ADVICE = "Check how rewards are scaled and normalised within a group, and whether one reward drowns the others."


def detect(view: View) -> Finding | None:
    """The standard deviation of the advantages, against its own start."""
    track = view.track(Metric.ADVANTAGE_STD)
    if track is None or track.start <= 0 or track.recent > _GONE * track.start:
        return None
    begin = standing_since(-track.trailing, -_GONE * track.start, -2 * _GONE * track.start)
    if begin is None:
        return None
    evidence = f"The standard deviation of the advantages fell from {track.start:.3g} to {track.recent:.3g}."
    return view.finding(Symptom.ADVANTAGE_COLLAPSE, Severity.WARNING, int(track.steps[begin]), evidence, _ADVICE)
