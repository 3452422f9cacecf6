"""What the detectors look at: the reward and every metric as tracks, the horizon, and how a finding is put together."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from grpo_ops.curve import RewardCurve
from grpo_ops.law.diagnostics.names import ALIASES, POSITION_PREFIX, Metric, component
from grpo_ops.law.diagnostics.tracks import Track, standing_since
from grpo_ops.law.diagnostics.types import Finding, Severity, Symptom

_NEAR_TOP, _NEAR_BOTTOM = 0.8, 0.2
_STILL_RISES = 0.1


@dataclass(frozen=True, eq=False)
class View:
    """A run, prepared once for all detectors. `reward` has at least tracks.MIN_POINTS points."""

    curve: RewardCurve
    reward: Track
    evaluation: Track | None
    horizon: int
    completions: int | None

    @classmethod
    def of(
        cls,
        curve: RewardCurve,
        evaluations: RewardCurve | None = None,
        max_steps: int | None = None,
        completions_per_step: int | None = None,
    ) -> "View | None":
        """None where the curve is too short for any judgement."""
        reward = Track.of(curve.steps, curve.rewards)
        if reward is None:
            return None
        horizon = max(max_steps or curve.max_steps or 0, curve.steps[-1])
        return cls(curve, reward, _evaluation(curve, evaluations), horizon, completions_per_step)

    def track(self, metric: Metric) -> Track | None:
        """The metric under any of its names; None where too few steps have it."""
        return _merged(self.curve, ALIASES[metric])

    def column(self, metric: Metric) -> tuple[float, ...] | None:
        """The metric as it was logged, with its gaps and its infinities."""
        return next((self.curve.metrics[name] for name in ALIASES[metric] if name in self.curve.metrics), None)

    @cached_property
    def components(self) -> dict[str, Track]:
        """The parts of the reward by name."""
        found = {component(name): Track.of(self.curve.steps, values) for name, values in self.curve.metrics.items()}
        return {name: track for name, track in sorted(found.items(), key=str) if name and track}

    @cached_property
    def positions(self) -> dict[str, Track]:
        """The KL by position in the completion."""
        names = sorted(name for name in self.curve.metrics if name.startswith(POSITION_PREFIX))
        found = {name: Track.of(self.curve.steps, self.curve.metrics[name]) for name in names}
        return {name: track for name, track in found.items() if track}

    @property
    def last_step(self) -> int:
        return self.curve.steps[-1]

    @property
    def steps_so_far(self) -> int:
        return self.last_step - min(self.curve.steps[0], self.curve.spacing) + self.curve.spacing

    @cached_property
    def is_bounded(self) -> bool:
        """Whether the rewards look like shares of right answers: all of them between 0 and 1."""
        return min(self.curve.rewards) >= 0 and max(self.curve.rewards) <= 1

    @cached_property
    def is_rising(self) -> bool:
        """Whether the reward still rises in the last half of the run, and by more than a tenth of its range."""
        half = self.reward.part(0.5)
        return half.trend().rises() and half.gain > _STILL_RISES * self.reward.span

    @cached_property
    def is_near_top(self) -> bool:
        """Whether the reward is where little is left to win: near 1 for shares, else near its own best after a rise."""
        if self.is_bounded:
            return self.reward.recent >= _NEAR_TOP
        return self.reward.has_risen() and self._share_of_range >= 0.85 and self._spread_is_gone

    @cached_property
    def is_near_bottom(self) -> bool:
        """Whether the reward is where nothing has been won yet, or everything is lost."""
        if self.is_bounded:
            return self.reward.recent <= _NEAR_BOTTOM
        return self.reward.span > 6 * self.reward.smooth_error and self._share_of_range <= 0.15

    @property
    def _share_of_range(self) -> float:
        """Where in the run's own range the reward is now; .5 where it never moved."""
        low, span = float(np.min(self.reward.smooth)), self.reward.span
        return (self.reward.recent - low) / span if span > 0 else 0.5

    @property
    def _spread_is_gone(self) -> bool:
        """At a reward's true ceiling its spread vanishes; without that column the doubt favours the run."""
        spread = self.track(Metric.REWARD_STD)
        return spread is None or spread.recent <= 0.5 * float(np.max(spread.smooth))

    def standing_share(self, metric: Metric, enter: float, leave: float) -> tuple[Track, int] | None:
        """The metric and the step since which it stands high to the end (standing_since), if it still is at `enter`."""
        track = self.track(metric)
        if track is None or track.recent < enter:
            return None
        begin = standing_since(track.trailing, enter, leave)
        return None if begin is None else (track, int(track.steps[begin]))

    def steps_since(self, step: int) -> int:
        return max(0, self.last_step - step) + self.curve.spacing

    def finding(
        self,
        symptom: Symptom,
        severity: Severity,
        since: int,
        evidence: str,
        advice: str,
        share: float = 1.0,
        lost: float | None = None,
    ) -> Finding:
        """A finding that has cost `share` of every step since `since`, and `lost` of the reward."""
        steps = min(self.steps_so_far, round(share * self.steps_since(since)))
        cost = f"{steps} of {self.steps_so_far} steps so far ({steps / self.steps_so_far:.0%})"
        if lost is not None:
            cost += f", and {lost:.3g} of reward below the run's own best"
        return Finding(symptom, severity, int(since), evidence, cost + ".", advice, int(steps), lost)


def _evaluation(curve: RewardCurve, evaluations: RewardCurve | None) -> Track | None:
    """The evaluations given, else those that the trainer logged among its metrics."""
    if evaluations is not None and len(evaluations):
        return _short_track(evaluations.steps, evaluations.rewards)
    for name in ALIASES[Metric.EVALUATION]:
        if name in curve.metrics:
            return _short_track(curve.steps, curve.metrics[name])
    return None


def _short_track(steps: tuple[int, ...], values: tuple[float, ...]) -> Track | None:
    """Evaluations are few: 4 will do for a hint, where 8 training steps are the least."""
    column = np.array(values, dtype=np.float64)
    kept = np.isfinite(column)
    if np.count_nonzero(kept) < 4:
        return None
    return Track(np.array(steps, dtype=np.int64)[kept], column[kept])


def _merged(curve: RewardCurve, names: tuple[str, ...]) -> Track | None:
    columns = [np.array(curve.metrics[name], dtype=np.float64) for name in names if name in curve.metrics]
    if not columns:
        return None
    merged = columns[0]
    for column in columns[1:]:
        merged = np.where(np.isnan(merged), column, merged)
    return Track.of(curve.steps, merged.tolist())
