"""Clip saturation: the trust region throws away a large part of every update."""

from grpo_ops.law.diagnostics.names import Metric
from grpo_ops.law.diagnostics.tracks import standing_since
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_ENTER, _LEAVE, _MOST = 0.25, 0.15, 0.5
_ADVICE = "Lower the learning rate or the number of updates a batch; with asynchronous rollouts, refresh them sooner."


def detect(view: View) -> Finding | None:
    """The share of tokens whose ratio is clipped, a quarter and more of them for a while now."""
    track = view.track(Metric.CLIPPED_UPDATES)
    if track is None or track.recent < _ENTER:
        return None
    begin = standing_since(track.trailing, _ENTER, _LEAVE)
    if begin is None:
        return None
    recent = min(1.0, track.recent)
    severity = Severity.CRITICAL if recent >= _MOST else Severity.WARNING
    evidence = f"{recent:.0%} of the tokens are clipped; at the start it was {track.start:.0%}."
    return view.finding(Symptom.CLIP_SATURATION, severity, int(track.steps[begin]), evidence, _ADVICE, recent)
