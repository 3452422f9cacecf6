"""Zero gradient: there is a loss and no gradient of it. The signal does not get to the weights."""

import math

from grpo_ops.law.diagnostics.names import Metric
from grpo_ops.law.diagnostics.tracks import Track, standing_since
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_NEARLY_ALL, _LEAVE = 0.9, 0.5
_ADVICE = "Check that the adapter's weights require gradients and that no log-probability is detached from them."


def detect(view: View) -> Finding | None:
    """A gradient of exactly zero beside a loss that is not, at nine of ten recent steps.

    Groups without any spread make a loss of zero as well, so they are no such steps.
    """
    gradient, loss = view.column(Metric.GRAD_NORM), view.column(Metric.LOSS)
    if gradient is None or loss is None:
        return None
    lost = Track.of(view.curve.steps, [_is_lost(*pair) for pair in zip(gradient, loss, strict=True)])
    if lost is None or lost.recent < _NEARLY_ALL:
        return None
    begin = standing_since(lost.trailing, _NEARLY_ALL, _LEAVE)
    if begin is None:
        return None
    evidence = f"The gradient is zero at {lost.recent:.0%} of the last steps although the loss is not."
    since = int(lost.steps[begin])
    return view.finding(Symptom.ZERO_GRADIENT, Severity.CRITICAL, since, evidence, _ADVICE, lost.recent)


def _is_lost(gradient: float, loss: float) -> float:
    """1 or 0; NaN where either was not logged."""
    known = math.isfinite(gradient) and math.isfinite(loss)
    return float(gradient == 0 and loss != 0) if known else math.nan
