"""Truncation: completions run into the length limit, and the reward judges half an answer."""

from grpo_ops.law.diagnostics.names import Metric
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_ENTER, _LEAVE, _MOST, _NEARLY_ALL = 0.2, 0.1, 0.5, 0.9
_ADVICE = "Raise the completion limit or mask truncated completions out of the loss, and check that answers can end."


def detect(view: View) -> Finding | None:
    """The share of truncated completions. Most of them while the reward does not rise is critical, nearly all is."""
    found = view.standing_share(Metric.TRUNCATED, _ENTER, _LEAVE)
    if found is None:
        return None
    track, since = found
    recent = min(1.0, track.recent)
    bearable = _NEARLY_ALL if view.is_rising else _MOST
    severity = Severity.CRITICAL if recent >= bearable else Severity.WARNING
    evidence = f"{recent:.0%} of the completions hit the length limit; at the start it was {track.start:.0%}."
    return view.finding(Symptom.TRUNCATION, severity, since, evidence, _ADVICE, recent)
