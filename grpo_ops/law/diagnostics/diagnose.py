"""diagnose(): all detectors over one run, the worst first, each cause named once."""

from collections.abc import Callable

import numpy as np

from grpo_ops.curve import RewardCurve
from grpo_ops.law.diagnostics import (
    advantages,
    clipping,
    collapse,
    completions,
    components,
    critic,
    drift,
    entropy,
    length,
    no_signal,
    not_finite,
    oscillation,
    plateau,
    repetition,
    reward_hacking,
    rollouts,
    step_size,
    throughput,
    truncation,
    updates,
    zero_gradient,
)
from grpo_ops.law.diagnostics.types import NO_SIGNAL, Finding, Symptom
from grpo_ops.law.diagnostics.view import View

DETECTORS: tuple[Callable[[View], Finding | None], ...] = (
    no_signal.detect,
    advantages.detect,
    updates.detect,
    zero_gradient.detect,
    plateau.detect,
    collapse.detect,
    oscillation.detect,
    reward_hacking.detect,
    length.detect_hacking,
    length.detect_collapse,
    components.detect,
    entropy.detect,
    truncation.detect,
    repetition.detect,
    drift.detect_growth,
    drift.detect_concentration,
    clipping.detect,
    not_finite.detect,
    step_size.detect,
    rollouts.detect,
    critic.detect,
    completions.detect,
    throughput.detect,
)

# A symptom on the left says nothing new where one on the right was found.
_ECHOES: dict[Symptom, frozenset[Symptom]] = {
    Symptom.VANISHING_UPDATES: NO_SIGNAL | {Symptom.ZERO_GRADIENT},
    Symptom.ADVANTAGE_COLLAPSE: NO_SIGNAL,
    Symptom.UNSTABLE_STEP_SIZE: frozenset({Symptom.NOT_FINITE}),
    Symptom.COLLAPSE: frozenset({Symptom.OSCILLATION}),
    Symptom.PLATEAU: NO_SIGNAL | {Symptom.COLLAPSE, Symptom.ENTROPY_COLLAPSE},
    Symptom.TOO_FEW_COMPLETIONS: NO_SIGNAL | {Symptom.COLLAPSE},
}


def diagnose(
    curve: RewardCurve,
    evaluations: RewardCurve | None = None,
    max_steps: int | None = None,
    completions_per_step: int | None = None,
) -> tuple[Finding, ...]:
    """What is wrong with a run, the worst first and then the earliest; nothing for fewer than 8 points.

    evaluations: held-out scores over steps; without them those among the curve's metrics count, if any.
    max_steps: the planned last step; the curve's own otherwise. completions_per_step: of all prompts together.
    """
    view = View.of(curve, evaluations, max_steps, completions_per_step)
    if view is None:
        return ()
    with np.errstate(all="ignore"):
        found = [finding for detector in DETECTORS if (finding := detector(view))]
    named = {finding.symptom for finding in found}
    kept = (finding for finding in found if not _ECHOES.get(finding.symptom, frozenset()) & named)
    return tuple(sorted(kept, key=lambda finding: (finding.severity.rank, finding.since_step)))
