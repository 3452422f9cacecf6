"""KL growth: the policy runs away from its reference, or moves away from it in one place only."""

import numpy as np

from grpo_ops.law.diagnostics.names import Metric
from grpo_ops.law.diagnostics.tracks import Track, standing_since
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_LARGE, _TIMES = 0.5, 5.0
_SHARE, _POSITIONS = 0.45, 4
_RUNS_AWAY = (
    "Raise beta or lower the learning rate, make sure that the reference is frozen, and go back before the rise."
)
_ONE_PLACE = "Compare the exact tokens that policy and reference are given: template, system prompt, start tokens."


def detect_growth(view: View) -> Finding | None:
    """KL several times what it was, large, and rising still or for nothing. Reward that rises makes it a price."""
    track = view.track(Metric.KL)
    if track is None:
        return None
    early = float(np.median(track.values[: max(5, len(track) // 10)]))
    now = float(np.median(track.values[-max(5, len(track) // 5) :]))
    enter = max(_LARGE, _TIMES * early)
    rises = track.part(0.5).trend().rises()
    if now < enter or (view.reward.has_risen() and not rises):
        return None
    begin = standing_since(track.smooth, enter, enter / 2)
    if begin is None:
        return None
    evidence = f"KL to the reference grew from {early:.3g} to {now:.3g}{' and still rises' if rises else ''}."
    return view.finding(Symptom.KL_GROWTH, _severity(view, track), int(track.steps[begin]), evidence, _RUNS_AWAY)


def detect_concentration(view: View) -> Finding | None:
    """One of at least four positions holds nearly half of the KL."""
    recent = {name: max(0.0, track.recent) for name, track in view.positions.items()}
    total = sum(recent.values())
    if len(recent) < _POSITIONS or total <= 0:
        return None
    name, most = max(recent.items(), key=lambda item: item[1])
    if most <= _SHARE * total or not view.positions[name].has_risen():
        return None
    since = int(view.positions[name].steps[standing_since(view.positions[name].smooth, -np.inf, most / 2) or 0])
    evidence = f"{most / total:.0%} of the KL sits in {name}, one of {len(recent)} positions."
    return view.finding(Symptom.KL_CONCENTRATION, Severity.WARNING, since, evidence, _ONE_PLACE)


def _severity(view: View, track: Track) -> Severity:
    if not view.is_rising:
        return Severity.CRITICAL
    return Severity.WARNING if _accelerates(track) else Severity.INFO


def _accelerates(track: Track) -> bool:
    """Whether the last quarter added at least twice what the quarter before did."""
    a, b, c = (float(track.smooth[int(share * (len(track) - 1))]) for share in (0.5, 0.75, 1.0))
    return c - b > 2 * max(b - a, 0.0) and c > b
