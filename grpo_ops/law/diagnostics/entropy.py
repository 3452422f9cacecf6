"""Entropy collapse: exploration ends before the run does. A low entropy says little; when it arrives says all."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from grpo_ops.law.diagnostics.names import Metric
from grpo_ops.law.diagnostics.tracks import Track, standing_since
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom
from grpo_ops.law.diagnostics.view import View
from grpo_ops.law.series import thinned
from grpo_ops.law.types import Floats

_FLOOR_SHARE, _FLOOR = 0.05, 0.01
_BLOCKS = 30
_TOP = 0.9
_ADVICE = (
    "Raise the upper clip bound (clip-higher), the temperature or an entropy bonus before it is gone; "
    "afterwards only an earlier checkpoint helps."
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """When entropy reaches its floor: the step that the fit names, and the latest within two standard errors."""

    step: float
    latest: float


def detect(view: View) -> Finding | None:
    """Silent where the reward has reached its top, and where the entropy will last until the end."""
    track = view.track(Metric.ENTROPY)
    if track is None or track.start <= _FLOOR or view.is_near_top:
        return None
    floor = max(_FLOOR_SHARE * track.start, _FLOOR)
    begin = standing_since(-track.trailing, -floor, -2 * floor)
    if begin is not None:
        return _arrived(view, track, int(track.steps[begin]))
    return _coming(view, track, floor)


def _arrived(view: View, track: Track, since: int) -> Finding:
    severity = Severity.WARNING if view.is_rising else Severity.CRITICAL
    evidence = (
        f"Entropy fell from {track.start:.3g} to {track.trailing[-1]:.3g}: completions of a prompt are all but the "
        f"same since step {since}, at a reward of {view.reward.recent:.3g}."
    )
    return view.finding(Symptom.ENTROPY_COLLAPSE, severity, since, evidence, _ADVICE)


def _coming(view: View, track: Track, floor: float) -> Finding | None:
    coming = arrival(track, floor)
    if coming is None or coming.latest >= view.horizon or track.recent > 0.7 * track.start:
        return None
    if view.is_rising and _reward_is_first(view, coming):
        return None
    evidence = (
        f"Entropy fell from {track.start:.3g} to {track.trailing[-1]:.3g} and will be at {floor:.2g} by step "
        f"{coming.step:.0f} (step {coming.latest:.0f} at the latest), before the last step {view.horizon}."
    )
    severity = Severity.INFO if view.is_rising and not view.is_bounded else Severity.WARNING
    since = int(track.steps[len(track) // 2])
    return view.finding(Symptom.ENTROPY_COLLAPSE, severity, since, evidence, _ADVICE, share=0.0)


def _reward_is_first(view: View, coming: Arrival) -> bool:
    """Whether the reward, going on as it does, is near 1 before the entropy is gone: then that is convergence."""
    half = view.reward.part(0.5)
    pace = _line(half.steps.astype(np.float64), half.values).arrival(_TOP, float(half.last_step()))
    return view.is_bounded and pace is not None and pace.step <= coming.latest


def arrival(track: Track, floor: float) -> Arrival | None:
    """The later one of two lines, through the last half of the entropy and of its logarithm; None if either stays up.

    Early on entropy falls steeply and slows down, so a straight line alone cries wolf.
    """
    half = track.part(0.5)
    block = max(1, len(half) // _BLOCKS)
    steps, values = thinned(half.steps.astype(np.float64), block), thinned(half.values, block)
    if np.min(values) <= 0:
        return None
    last = float(steps[-1])
    straight = _line(steps, values).arrival(floor, last)
    curved = _line(steps, np.log(values)).arrival(math.log(floor), last)
    return max(straight, curved, key=lambda one: one.latest) if straight and curved else None


@dataclass(frozen=True, slots=True)
class _Line:
    slope: float
    slope_error: float
    center: float
    level: float

    def arrival(self, goal: float, last: float) -> Arrival | None:
        """When the line comes to `goal`; None unless even the shallowest slope within two errors leads there."""
        now = self.level + self.slope * (last - self.center)
        way = math.copysign(1.0, goal - now)
        fast, slow = way * self.slope, way * self.slope - 2 * self.slope_error
        if not slow > 0:
            return None
        return Arrival(last + abs(goal - now) / fast, last + abs(goal - now) / slow)


def _line(steps: Floats, values: Floats) -> _Line:
    fit = stats.linregress(steps, values)
    return _Line(float(fit.slope), float(fit.stderr), float(np.mean(steps)), float(np.mean(values)))
