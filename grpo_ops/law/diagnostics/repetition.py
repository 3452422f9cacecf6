"""Repetition: completions loop. What little is left of the sampling falls into the same phrases."""

from grpo_ops.law.diagnostics.names import Metric
from grpo_ops.law.diagnostics.tracks import standing_since
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_ENTER, _LEAVE = 0.25, 0.15
_ADVICE = (
    "Read the looping completions, penalise repetition in the reward, and raise the temperature or the KL penalty."
)


def detect(view: View) -> Finding | None:
    """The share of repeated n-grams, against a quarter and against twice its own start."""
    track = view.track(Metric.REPETITION)
    if track is None or track.recent < max(_ENTER, 2 * track.start):
        return None
    begin = standing_since(track.trailing, _ENTER, _LEAVE)
    if begin is None:
        return None
    evidence = f"Repeated text rose from {track.start:.0%} to {track.recent:.0%} of the completions."
    return view.finding(Symptom.REPETITION, Severity.WARNING, int(track.steps[begin]), evidence, _ADVICE)
