"""Reward hacking: the training reward goes up and the held-out score does not go with it."""

import math

import numpy as np

from grpo_ops.law.diagnostics.tracks import Track
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View
from grpo_ops.law.types import Floats

_AFTER = 4
_FEW = 6
_FOLLOWS = 0.25
_ADVICE = (
    "Read 20 completions of high reward end to end, repair what the reward pays for, and go back to the checkpoint "
    "of the best held-out score."
)


def detect(view: View) -> Finding | None:
    """Splits the run where the held-out score is best, and at its start; either side must show a clear difference."""
    scores = view.evaluation
    if scores is None or not view.reward.has_risen():
        return None
    return _hinted(view, scores) if len(scores) < _FEW else _fallen(view, scores) or _left_behind(view, scores)


def _hinted(view: View, scores: Track) -> Finding | None:
    """Four or five scores have no noise to speak of: a fall by half of what was won is worth a note, no more."""
    best = int(np.argmax(scores.values))
    top, now = float(scores.values[best]), float(scores.values[-1])
    won, since = top - float(scores.values[0]), int(scores.steps[best])
    if top - now <= 0.5 * won or len(scores) - best < 3 or not _gains_after(view, since):
        return None
    evidence = f"Of {len(scores)} held-out scores the best was {top:.3g} at step {since}, the last is {now:.3g}, "
    return view.finding(
        Symptom.REWARD_HACKING, Severity.INFO, since, evidence + _training(view, since) + ".", _ADVICE, lost=top - now
    )


def _fallen(view: View, scores: Track) -> Finding | None:
    """The held-out score falls from its best by more than noise while the training reward gains."""
    smooth = _smooth3(scores)
    best = int(np.argmax(smooth[: len(smooth) - _AFTER + 1]))
    now = float(np.mean(scores.values[-3:]))
    drop, since = float(smooth[best]) - now, int(scores.steps[best])
    won = float(smooth[best] - smooth[0])
    if drop <= max(4 * scores.noise * math.sqrt(2 / 3), 0.25 * won) or not _gains_after(view, since):
        return None
    evidence = (
        f"Since step {since} the held-out score fell from {smooth[best]:.3g} to {now:.3g}, {_training(view, since)}."
    )
    return view.finding(Symptom.REWARD_HACKING, Severity.CRITICAL, since, evidence, _ADVICE, lost=drop)


def _left_behind(view: View, scores: Track) -> Finding | None:
    """The held-out score stays within a quarter of what the training reward gained between the same steps."""
    count = max(3, len(scores) // 4)
    training = np.interp(scores.steps, view.reward.steps, view.reward.smooth)
    gain, trained = gain_of_ends(scores.values, count), gain_of_ends(training, count)
    error = scores.noise * math.sqrt(2 / count)
    if trained < max(4 * view.reward.smooth_error, 0.25 * view.reward.span) or gain + 2 * error >= _FOLLOWS * trained:
        return None
    since = int(scores.steps[0])
    evidence = f"The held-out score moved by {gain:+.3g} ± {error:.2g}, {_training(view, since)}."
    return view.finding(Symptom.REWARD_HACKING, Severity.WARNING, since, evidence, _ADVICE)


def gain_of_ends(values: Floats, count: int) -> float:
    """Mean of the last `count` values minus mean of the first."""
    return float(np.mean(values[-count:]) - np.mean(values[:count]))


def _gains_after(view: View, step: int) -> bool:
    after = view.reward.after(step)
    return after is not None and after.has_risen() and after.gain > 0.1 * view.reward.span


def _training(view: View, step: int) -> str:
    after = view.reward.after(step) or view.reward
    return f"while the training reward rose from {after.start:.3g} to {after.recent:.3g}"


def _smooth3(track: Track) -> Floats:
    padded = np.pad(track.values, 1, mode="edge")
    return np.asarray((padded[:-2] + padded[1:-1] + padded[2:]) / 3)
