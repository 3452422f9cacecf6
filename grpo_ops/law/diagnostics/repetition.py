"""Repetition: completions loop. What little is left of the sampling falls into the same phrases."""

from grpo_ops.law.diagnostics.names import Metric
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_ENTER, _LEAVE = 0.25, 0.15
_ADVICE = (
    "Read the looping completions, penalise repetition in the reward, and raise the temperature or the KL penalty."
)


def detect(view: View) -> Finding | None:
    """The share of repeated n-grams, against a quarter and against twice its own start."""
    found = view.standing_share(Metric.REPETITION, _ENTER, _LEAVE)
    if found is None or found[0].recent < 2 * found[0].start:
        return None
    track, since = found
    evidence = f"Repeated text rose from {track.start:.0%} to {track.recent:.0%} of the completions."
    return view.finding(Symptom.REPETITION, Severity.WARNING, since, evidence, _ADVICE)
