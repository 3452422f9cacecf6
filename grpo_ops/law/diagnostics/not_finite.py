"""Not finite: a loss or a gradient that is no number any more. NaN advantages show here, as nothing else logs them."""

import math

import numpy as np

from grpo_ops.law.diagnostics.names import ALIASES, Metric
from grpo_ops.law.diagnostics.tracks import MIN_POINTS
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

ADVICE = (
    "Go back to the last checkpoint before it: its weights may be poisoned. Look for rewards too large to be squared, "
    "use bfloat16 and a lower learning rate."
)


def detect(view: View) -> Finding | None:
    """Infinite values, steps at which the trainer counted bad gradients, and a gradient norm that falls silent."""
    steps = sorted(_infinite_steps(view) | _counted_steps(view) | _silent_step(view))
    if not steps:
        return None
    evidence = f"Loss or gradient stopped being finite at {len(steps)} steps, at step {steps[0]} for the first time."
    return view.finding(Symptom.NOT_FINITE, Severity.CRITICAL, steps[0], evidence, ADVICE)


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
