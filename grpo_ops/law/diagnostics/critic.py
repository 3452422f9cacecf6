"""Value divergence: the value head predicts the return worse than a constant would, and advantages become noise."""

from grpo_ops.law.diagnostics.names import Metric
from grpo_ops.law.diagnostics.tracks import standing_since
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_ADVICE = "Lower the value head's learning rate or warm it up longer, and look at the scale of the rewards."


def detect(view: View) -> Finding | None:
    """Explained variance below zero over the recent steps. A value head that has only begun is given time."""
    track = view.track(Metric.EXPLAINED_VARIANCE)
    if track is None or track.recent >= 0 or track.recent > track.start:
        return None
    begin = standing_since(-track.trailing, 0.0, -0.05)
    if begin is None:
        return None
    evidence = f"The value head's explained variance went from {track.start:.2f} to {track.recent:.2f}, below zero."
    return view.finding(Symptom.VALUE_DIVERGENCE, Severity.WARNING, int(track.steps[begin]), evidence, _ADVICE)
