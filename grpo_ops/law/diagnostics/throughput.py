"""Slowdown: a step takes half as long again as it did, mostly because completions have grown."""

from grpo_ops.law.diagnostics.names import Metric
from grpo_ops.law.diagnostics.tracks import Track, standing_since
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_SLOWER = 1.5
_ADVICE = "If completions have grown, see to them first; else look for a leak, a full cache or a slow grader."


def detect(view: View) -> Finding | None:
    """Step time against its start, where it rises for good and not for a moment."""
    track = view.track(Metric.STEP_TIME)
    if track is None or track.start <= 0 or track.recent < _SLOWER * track.start or not track.trend().rises(1e-3):
        return None
    begin = standing_since(track.trailing, _SLOWER * track.start, 1.2 * track.start)
    if begin is None:
        return None
    evidence = f"A step took {track.start:.3g} s at the start and takes {track.recent:.3g} s now{_because(view)}."
    share = 1 - track.start / track.recent
    return view.finding(Symptom.SLOWDOWN, Severity.INFO, int(track.steps[begin]), evidence, _ADVICE, share)


def _because(view: View) -> str:
    length: Track | None = view.track(Metric.LENGTH)
    grown = length is not None and length.start > 0 and length.recent > 1.3 * length.start
    return "; completions grew in the meantime" if grown else ""
