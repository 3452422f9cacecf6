"""No signal: in most groups every completion got the same reward, so that the group's advantages are all zero.

All-correct and all-wrong groups look the same in that share and need opposite cures; the reward's level tells which.
"""

import numpy as np
from numpy.typing import NDArray

from grpo_ops.law.diagnostics.names import Metric
from grpo_ops.law.diagnostics.tracks import MIN_POINTS, Track, standing_since
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View

_NOTED, _WARNED, _DEAD = 0.5, 0.6, 0.9
_LEAVE = 0.4
_NEARLY_ALL = 0.8
_USED_UP = 0.7
_GONE = 0.03

_ADVICE = {
    Symptom.ALL_CORRECT: "Stop here, or give it harder prompts: drop those that it always solves and draw new ones.",
    Symptom.ALL_WRONG: "Give it easier prompts first, more completions a prompt or a short supervised start, and grade "
    "20 completions by hand: a grader that fails looks exactly like this.",
    Symptom.IDENTICAL: "Filter prompts that are always or never solved, raise the temperature or the number of "
    "completions a prompt, and check that the reward can tell completions apart.",
}


def detect(view: View) -> Finding | None:
    """Reads the share of groups without spread, else the spread of the reward, else a reward that never changes."""
    symptom = _kind(view)
    found = _from_share(view, symptom) or _from_spread(view) or _from_constant(view)
    if found is None:
        return None
    since, share, recent, evidence = found
    evidence = f"{evidence} at a reward of {view.reward.recent:.3g}."
    return view.finding(symptom, _severity(view, symptom, recent), since, evidence, _ADVICE[symptom], share)


def _kind(view: View) -> Symptom:
    right = _share_of_right(view)
    if view.is_near_top or right >= _NEARLY_ALL:
        return Symptom.ALL_CORRECT
    if view.is_near_bottom or right <= 1 - _NEARLY_ALL:
        return Symptom.ALL_WRONG
    return Symptom.IDENTICAL


def _share_of_right(view: View) -> float:
    """How many of the groups without spread are all correct, if the others are half right: p = f q + (1 - f) / 2.

    Half where rewards are no shares or no group's spread is known. p = .79 with f = .7 of the groups gives q = .91.
    """
    track = view.track(Metric.ZERO_SPREAD)
    if track is None or not view.is_bounded or track.recent < _NOTED:
        return 0.5
    return (view.reward.recent - (1 - track.recent) / 2) / track.recent


def _severity(view: View, symptom: Symptom, recent: float) -> Severity:
    """All wrong and rising all the same is on its way out of it; a run that has solved its task is no catastrophe."""
    young = view.steps_so_far < 0.2 * view.horizon and recent < _DEAD
    if young or recent < _WARNED or (view.is_rising and not _outgrown(view, symptom)):
        return Severity.INFO
    if recent >= _DEAD and symptom is not Symptom.ALL_CORRECT:
        return Severity.CRITICAL
    return Severity.WARNING


def _outgrown(view: View, symptom: Symptom) -> bool:
    """Whether the task is nearly used up although the reward still rises."""
    track = view.track(Metric.ZERO_SPREAD)
    return symptom is not Symptom.ALL_WRONG and track is not None and float(track.trailing[-1]) >= _USED_UP


def _from_share(view: View, symptom: Symptom) -> tuple[int, float, float, str] | None:
    track = view.track(Metric.ZERO_SPREAD)
    if track is None or track.recent < _NOTED:
        return None
    begin = standing_since(np.where(_alike(view, symptom, track), track.trailing, 0.0), _NOTED, _LEAVE)
    if begin is None:
        return None
    share, recent = min(1.0, float(np.mean(track.values[begin:]))), min(1.0, track.recent)
    return int(track.steps[begin]), share, recent, f"In {recent:.0%} of the groups all completions score the same"


def _alike(view: View, symptom: Symptom, track: Track) -> NDArray[np.bool_]:
    """The steps at which the reward was on the same side: groups that were all correct before are not all wrong."""
    reward = np.interp(track.steps, view.reward.steps, view.reward.smooth)
    middle = 0.5 if view.is_bounded else float(np.min(reward) + np.max(reward)) / 2
    if symptom is Symptom.ALL_CORRECT:
        return np.asarray(reward >= middle)
    return np.asarray(reward <= middle) if symptom is Symptom.ALL_WRONG else np.ones(len(track), dtype=np.bool_)


def _from_spread(view: View) -> tuple[int, float, float, str] | None:
    """A spread that has fallen to next to nothing, or is exactly zero."""
    track = view.track(Metric.REWARD_STD)
    if track is None or view.track(Metric.ZERO_SPREAD) is not None:
        return None
    usual = float(np.max(track.smooth))
    if track.recent > _GONE * usual:
        return None
    begin = standing_since(-track.values, -_GONE * usual, -2 * _GONE * usual)
    if begin is None or len(track) - begin < MIN_POINTS:
        return None
    evidence = f"The spread of the rewards fell from {usual:.3g} to {track.values[-1]:.3g}"
    return int(track.steps[begin]), 1.0, 1.0, evidence


def _from_constant(view: View) -> tuple[int, float, float, str] | None:
    """The same reward at every step of the last tenth, and of 12 at least: coarse rewards repeat by chance."""
    if view.track(Metric.ZERO_SPREAD) is not None or view.track(Metric.REWARD_STD) is not None:
        return None
    track: Track = view.reward
    changed = np.flatnonzero(np.diff(track.values))
    begin = int(changed[-1]) + 1 if changed.size else 0
    count = len(track) - begin
    if count < max(12, len(track) // 10):
        return None
    return int(track.steps[begin]), 1.0, 1.0, f"The last {count} steps have exactly the same reward"
