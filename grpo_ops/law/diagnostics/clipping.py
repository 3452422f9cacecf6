"""Clip saturation: the trust region throws away a large part of every update."""

from grpo_ops.law.diagnostics.names import Metric
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_ENTER, _LEAVE, _MOST = 0.25, 0.15, 0.5
_ADVICE = "Lower the learning rate or the number of updates a batch; with asynchronous rollouts, refresh them sooner."


def detect(view: View) -> Finding | None:
    """The share of tokens whose ratio is clipped, a quarter and more of them for a while now."""
    found = view.standing_share(Metric.CLIPPED_UPDATES, _ENTER, _LEAVE)
    if found is None:
        return None
    track, since = found
    recent = min(1.0, track.recent)
    severity = Severity.CRITICAL if recent >= _MOST else Severity.WARNING
    evidence = f"{recent:.0%} of the tokens are clipped; at the start it was {track.start:.0%}."
    return view.finding(Symptom.CLIP_SATURATION, severity, since, evidence, _ADVICE, recent)
