"""Too few completions: at this noise the whole run cannot show whether anything was learnt."""

import math

import numpy as np

from grpo_ops.law.diagnostics.names import Metric
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_FEW = 32
_MIN_RUN = 30
_ADVICE = "Use more completions a step, or judge by held-out evaluations of a few hundred prompts; this curve cannot."


def detect(view: View) -> Finding | None:
    """The smallest gain that first and last steps could show, against all that the smoothed reward ever moved."""
    track, few = view.reward, _completions(view)
    if few is None or few > _FEW or len(track) < _MIN_RUN or track.noise == 0:
        return None
    decidable = 2 * math.sqrt(2) * track.noise / math.sqrt(max(5, len(track) // 5))
    if abs(track.gain) > decidable or track.span > 6 * track.smooth_error:
        return None
    evidence = (
        f"One step's reward has a noise of {track.noise:.2g} (about {few:.0f} independent completions), so that only a "
        f"change above {decidable:.2g} could be seen; it moved by {track.gain:+.2g}."
    )
    return view.finding(Symptom.TOO_FEW_COMPLETIONS, Severity.INFO, int(track.steps[0]), evidence, _ADVICE)


def _completions(view: View) -> float | None:
    """As told; else from spread over noise, squared; else from how coarse the rewards are; None if nothing tells."""
    if view.completions is not None:
        return float(view.completions)
    spread = view.track(Metric.REWARD_STD)
    if spread is not None and spread.recent > 0 and view.reward.noise > 0:
        return float((np.median(spread.values) / view.reward.noise) ** 2)
    levels = np.unique(np.round(view.reward.values, 9))
    return float(len(levels) - 1) if 1 < len(levels) <= len(view.reward) // 3 else None
