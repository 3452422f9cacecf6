"""Two trials on the same prompts at the same step: how much of their difference is more than chance."""

import math

import numpy as np

from grpo_ops.curve import Evaluation
from grpo_ops.pruning.types import TrialView

_FEWEST_PROMPTS = 8


def paired_z(own: TrialView, rival: TrialView, step: int) -> float | None:
    """z of this trial's outcomes at `step` less the rival's, prompt by prompt; above 0 where this trial is better.

    z = mean(d) / sqrt(mean(d²) / N), d the differences over the N prompts that both scored; 0 where no outcome differs.
    None where they cannot be paired: no evaluation at this step, another digest, fewer than 8 shared prompts.
    Source: derived here (the standard error under no difference, as in McNemar's test for outcomes of 0 and 1).
    """
    mine, theirs = _at(own, step), _at(rival, step)
    if mine is None or theirs is None or mine.digest != theirs.digest:
        return None
    differences = _differences(mine, theirs)
    if len(differences) < _FEWEST_PROMPTS:
        return None
    spread = float(np.mean(differences**2))
    return float(np.mean(differences)) / math.sqrt(spread / len(differences)) if spread > 0 else 0.0


def _at(trial: TrialView, step: int) -> Evaluation | None:
    """The evaluation that the trial's curve has at `step`: the first one with a finite mean."""
    here = (evaluation for evaluation in trial.evaluations if evaluation.step == step)
    return next((evaluation for evaluation in here if math.isfinite(evaluation.mean)), None)


def _differences(mine: Evaluation, theirs: Evaluation) -> np.ndarray:
    other = dict(zip(theirs.prompt_ids, theirs.outcomes, strict=True))
    pairs = ((own, other.get(name)) for name, own in zip(mine.prompt_ids, mine.outcomes, strict=True))
    return np.array([own - rival for own, rival in pairs if own is not None and rival is not None], dtype=np.float64)
