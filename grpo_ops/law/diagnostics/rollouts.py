"""Stale rollouts: the engine that samples is no longer the policy that learns, so the reward tells nothing of it.

TRL logs with vLLM how far the log-probabilities of the sampled tokens are apart (nats a token). Where the engine keeps
old weights that gap grows as the policy moves. A flat reward with a healthy gradient is what a hard task looks like
too; without the engine's own numbers it is no evidence, and nothing is said.
"""

import numpy as np

from grpo_ops.law.diagnostics.names import Metric
from grpo_ops.law.diagnostics.tracks import Track, standing_since
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_LARGE, _TIMES = 0.02, 4.0
_TIMES_WHERE_FLAT = 1.5
_ALIVE = 0.1
_SILENT = 0.9
_ADVICE = (
    "Check that new weights reach the rollout engine: the adapter's sync, its cache of adapters by id, the versions of "
    "TRL and vLLM; go back to the checkpoint before it."
)


def detect(view: View) -> Finding | None:
    """The gap well above its own first tenth, and rising. Where the reward is flat although it learns, less will do."""
    gap = view.track(Metric.SAMPLING_GAP) or view.track(Metric.SAMPLING_GAP_MAX)
    if gap is None or not (gap.has_risen() and gap.trend().rises()):
        return None
    early, now = _ends(gap)
    large = max(_LARGE, _TIMES * early)
    flat = _is_flat(view)
    enter = min(large, _TIMES_WHERE_FLAT * early) if flat else large
    begin = None if now < enter else standing_since(gap.smooth, enter, (early + enter) / 2)
    if begin is None:
        return None
    since = int(gap.steps[begin])
    critical = now >= large and not _gains_after(view, since)
    evidence = f"Sampler and trainer were {early:.3g} apart a token at the start and are {now:.3g} now, and it grows"
    evidence += "; the reward is flat while gradients are healthy." if flat else "."
    severity = Severity.CRITICAL if critical else Severity.WARNING
    return view.finding(Symptom.STALE_ROLLOUTS, severity, since, evidence, _ADVICE)


def _ends(gap: Track) -> tuple[float, float]:
    """Medians of the first tenth and of the last fifth, of at least 5 values."""
    early, late = max(5, len(gap) // 10), max(5, len(gap) // 5)
    return float(np.median(gap.values[:early])), float(np.median(gap.values[-late:]))


def _is_flat(view: View) -> bool:
    """No rise of the reward beyond its noise although groups differ and the gradient is as large as ever."""
    gradient, silent = view.track(Metric.GRAD_NORM), view.track(Metric.ZERO_SPREAD)
    if gradient is None or gradient.recent <= _ALIVE * gradient.start or view.reward.has_risen() or view.is_rising:
        return False
    return silent is None or silent.recent < _SILENT


def _gains_after(view: View, step: int) -> bool:
    after = view.reward.after(step)
    return view.is_rising or (after is not None and after.has_risen())
