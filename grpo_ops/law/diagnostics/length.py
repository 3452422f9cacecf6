"""Length: reward that is bought with tokens, and answers that shrink to almost nothing."""

import numpy as np

from grpo_ops.law.diagnostics.names import Metric
from grpo_ops.law.diagnostics.reward_hacking import gain_of_ends
from grpo_ops.law.diagnostics.tracks import Track, standing_since
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_GROWN, _WARNED, _SHRUNK, _GONE = 1.5, 2.5, 0.3, 0.1
_TOKENS = 16
_TOGETHER = 0.8
_PADDING = (
    "Plot reward against length over completions; penalise length or pay per answer, then look at held-out scores."
)
_SHORTER = "Read completions: a reward that pays for brevity, or an early end of text, wins over solving the task."


def detect_hacking(view: View) -> Finding | None:
    """Length grew and the reward went with it. Held-out scores that rose too acquit it; without any it is a hint."""
    length = view.track(Metric.LENGTH)
    if length is None or length.start <= 0 or length.recent < _GROWN * length.start or not view.reward.has_risen():
        return None
    if length.gain < _TOKENS or length.gain < 4 * length.gain_error:
        return None
    together = _correlation(view.reward, length)
    earned = _is_earned(view)
    if together < _TOGETHER or earned:
        return None
    since = int(length.steps[_take_off(length)])
    proof = "no held-out score is there to acquit it" if earned is None else "the held-out score did not follow"
    evidence = (
        f"Completions grew from {length.start:.0f} to {length.recent:.0f} tokens and the reward with them "
        f"(correlation {together:.2f}); {proof}."
    )
    hint = earned is None and length.recent < _WARNED * length.start
    severity = Severity.INFO if hint else Severity.WARNING
    return view.finding(Symptom.LENGTH_HACKING, severity, since, evidence, _PADDING)


def detect_collapse(view: View) -> Finding | None:
    """Length fell below a third of its start; a warning only if the reward has nothing to show for it.

    Below a tenth without any such gain, next to nothing is left to be rewarded: critical.
    """
    length = view.track(Metric.LENGTH)
    if length is None or length.start < _TOKENS or length.recent > _SHRUNK * length.start:
        return None
    begin = standing_since(-length.trailing, -_SHRUNK * length.start, -2 * _SHRUNK * length.start)
    if begin is None:
        return None
    evidence = f"Completions shrank from {length.start:.0f} to {length.recent:.0f} tokens."
    worst = Severity.CRITICAL if length.recent <= _GONE * length.start else Severity.WARNING
    severity = Severity.INFO if view.reward.has_risen() else worst
    return view.finding(Symptom.LENGTH_COLLAPSE, severity, int(length.steps[begin]), evidence, _SHORTER)


def _take_off(length: Track) -> int:
    """The first point from which the smoothed length stays above a fifth of its growth."""
    return standing_since(length.smooth, -np.inf, length.start + 0.2 * length.gain) or 0


def _correlation(reward: Track, length: Track) -> float:
    """Of the smoothed curves, over the steps since the length took off."""
    begin = int(length.steps[_take_off(length)])
    rewards = np.interp(length.steps, reward.steps, reward.smooth)[length.steps >= begin]
    lengths = length.smooth[length.steps >= begin]
    if len(lengths) < 4 or np.ptp(rewards) == 0 or np.ptp(lengths) == 0:
        return 0.0
    return float(np.corrcoef(rewards, lengths)[0, 1])


def _is_earned(view: View) -> bool | None:
    """Whether held-out scores gained at least a quarter of what the training reward did; None without scores."""
    scores = view.evaluation
    if scores is None:
        return None
    return gain_of_ends(scores.values, max(3, len(scores) // 4)) >= 0.25 * view.reward.gain
