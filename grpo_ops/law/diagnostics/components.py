"""Component dominance: one part of the reward makes all the gain, and the part that matters stands still."""

import numpy as np

from grpo_ops.law.diagnostics.names import is_auxiliary
from grpo_ops.law.diagnostics.tracks import Track
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_STANDS_STILL = 0.1
_YOUNG = 0.4  # form is learnt first in most runs
_ADVICE = "Pay less for the part that is won, or only where the others are earned too, and check that those can vary."


def detect(view: View) -> Finding | None:
    """Gains over the whole run, then over its last half: a part that rose early must not hide that it stopped."""
    if len(view.components) < 2:
        return None
    return next((found for share in (1.0, 0.5) if (found := _over(view, share))), None)


def _over(view: View, share: float) -> Finding | None:
    parts = {name: track.part(share) for name, track in view.components.items()}
    top = max(parts, key=lambda name: parts[name].gain)
    winner, others = parts[top], {name: track for name, track in parts.items() if name != top}
    still = [name for name, track in others.items() if track.gain <= _STANDS_STILL * winner.gain]
    if not winner.has_risen(6.0) or len(still) < len(others) or not _is_won(winner) or not _is_suspect(top, still):
        return None
    since = int(winner.steps[int(np.argmax(winner.smooth >= winner.start + 0.5 * winner.gain))])
    moves = ", ".join(f"{name} by {parts[name].gain:+.2g}" for name in still)
    evidence = f"{top} went from {winner.start:.3g} to {winner.recent:.3g} since step {winner.steps[0]}; {moves}."
    severity = Severity.INFO if view.steps_so_far < _YOUNG * view.horizon else Severity.WARNING
    return view.finding(Symptom.COMPONENT_DOMINANCE, severity, since, evidence, _ADVICE)


def _is_won(winner: Track) -> bool:
    """Whether its last quarter is flat beside its rise: nothing is left to win there."""
    last = winner.values[-max(4, len(winner) // 4) :]
    half = len(last) // 2
    return float(abs(np.mean(last[half:]) - np.mean(last[:half]))) <= max(0.1 * winner.gain, 2 * winner.gain_error)


def _is_suspect(top: str, still: list[str]) -> bool:
    """A reward for form won while rewards for substance stand still; the other way round is as it should be."""
    return is_auxiliary(top) or not all(is_auxiliary(name) for name in still)
