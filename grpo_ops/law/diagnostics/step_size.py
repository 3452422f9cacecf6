"""Unstable step size: gradients that spike again and again."""

import numpy as np

from grpo_ops.law.diagnostics.names import Metric
from grpo_ops.law.diagnostics.tracks import MIN_POINTS, Track
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_SPIKE = 8.0
_SPIKES = 3
_OFTEN = 0.03
_ADVICE = "Clip gradients tighter, lower the learning rate or warm up longer, and look at the batches of those steps."


def detect(view: View) -> Finding | None:
    """Spikes of the gradient norm beyond 8 times its upper quartile."""
    track: Track | None = view.track(Metric.GRAD_NORM)
    if track is None or len(track) < 4 * MIN_POINTS:
        return None
    usual = float(np.quantile(track.values, 0.75))
    spikes = np.flatnonzero(track.values > _SPIKE * usual)
    if usual <= 0 or len(spikes) < _SPIKES or len(spikes) > len(track) // 5:
        return None
    severity = _severity(view, len(spikes) / len(track))
    worst = float(np.max(track.values)) / usual
    evidence = (
        f"The gradient norm rose above {_SPIKE:.0f} times its upper quartile ({usual:.3g}) at {len(spikes)} steps, "
        f"up to {worst:.0f} times."
    )
    share = len(spikes) / len(track)
    since = int(track.steps[spikes[0]])
    return view.finding(Symptom.UNSTABLE_STEP_SIZE, severity, since, evidence, _ADVICE, share)


def _severity(view: View, share: float) -> Severity:
    """Where most groups carry no signal the usual gradient is next to nothing: any real one is a spike beside it."""
    silent = view.track(Metric.ZERO_SPREAD)
    if silent is not None and float(np.mean(silent.values)) >= 0.5:
        return Severity.INFO
    return Severity.CRITICAL if share >= _OFTEN else Severity.WARNING
