"""Unstable step size: gradients that spike again and again, or that are no numbers any more."""

import math

import numpy as np

from grpo_ops.law.diagnostics.names import ALIASES, Metric
from grpo_ops.law.diagnostics.tracks import MIN_POINTS, Track
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_SPIKE = 8.0
_SPIKES = 3
_OFTEN = 0.03
_SPIKING = "Clip gradients tighter, lower the learning rate or warm up longer, and look at the batches of those steps."
_BROKEN = (
    "Go back to the last checkpoint before it: its weights may be poisoned. Use bfloat16 and a lower learning rate."
)


def detect(view: View) -> Finding | None:
    """Numbers that are not finite come first; then spikes of the gradient norm beyond 8 times its upper quartile."""
    return _not_finite(view) or _spiking(view)


def _not_finite(view: View) -> Finding | None:
    steps = sorted(_infinite_steps(view) | _counted_steps(view) | _silent_step(view))
    if not steps:
        return None
    evidence = f"Loss or gradient stopped being finite at {len(steps)} steps, at step {steps[0]} for the first time."
    return view.finding(Symptom.UNSTABLE_STEP_SIZE, Severity.CRITICAL, steps[0], evidence, _BROKEN)


def _infinite_steps(view: View) -> set[int]:
    columns = (view.column(metric) for metric in (Metric.GRAD_NORM, Metric.LOSS))
    return {
        s
        for column in columns
        if column
        for s, value in zip(view.curve.steps, column, strict=True)
        if math.isinf(value)
    }


def _counted_steps(view: View) -> set[int]:
    """Steps at which the trainer itself counted bad gradients."""
    columns = (view.curve.metrics.get(name, ()) for name in ALIASES[Metric.BAD_GRADIENTS])
    return {s for column in columns for s, value in zip(view.curve.steps, column, strict=False) if value > 0}


def _silent_step(view: View) -> set[int]:
    """The step from which the gradient norm, logged at every step until then, is missing: NaN is read as missing."""
    column = view.column(Metric.GRAD_NORM)
    if column is None:
        return set()
    there = np.isfinite(np.array(column, dtype=np.float64))
    last = int(np.flatnonzero(there)[-1]) if there.any() else -1
    if last + 1 < MIN_POINTS or len(there) - last - 1 < MIN_POINTS or not there[: last + 1].all():
        return set()
    return {view.curve.steps[last + 1]}


def _spiking(view: View) -> Finding | None:
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
    return view.finding(Symptom.UNSTABLE_STEP_SIZE, severity, since, evidence, _SPIKING, share)


def _severity(view: View, share: float) -> Severity:
    """Where most groups carry no signal the usual gradient is next to nothing: any real one is a spike beside it."""
    silent = view.track(Metric.ZERO_SPREAD)
    if silent is not None and float(np.mean(silent.values)) >= 0.5:
        return Severity.INFO
    return Severity.CRITICAL if share >= _OFTEN else Severity.WARNING
