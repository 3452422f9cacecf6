"""What is judged and what comes of it: TrialView and PruneDecision."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from grpo_ops.curve import Evaluation, RewardCurve, evaluation_curve
from grpo_ops.law import Forecast
from grpo_ops.law.series import Series
from grpo_ops.law.types import or_none
from grpo_ops.pruning.reason import PruneReason
from grpo_ops.pruning.rule import PruneRule

DECISION_ATTRIBUTE = "grpo_ops.decision"
"""User attribute of an Optuna trial that holds its last decision."""

TrialState = Literal["running", "finished", "pruned", "failed"]


@dataclass(frozen=True)
class TrialView:
    """A trial as the judge sees it. A plateau stop is `finished`: the trial keeps its value.

    key: names it in decisions. curve: its training rewards, with the planned number of steps. evaluations: by step.
    params: its settings by dotted path.
    """

    key: str
    curve: RewardCurve
    evaluations: tuple[Evaluation, ...] = ()
    state: TrialState = "running"
    params: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def judged(self, rule: PruneRule) -> RewardCurve:
        """The curve that `rule` looks at."""
        return self.curve if rule.metric == "reward" else self.evaluation_curve

    def series(self, rule: PruneRule) -> Series:
        """The judged curve as the law reads it, with more always better; prepared once for each metric and sign."""
        key = (rule.metric, rule.sign)
        if key not in self._series:
            self._series[key] = Series.of(self.judged(rule), sign=rule.sign)
        return self._series[key]

    @cached_property
    def evaluation_curve(self) -> RewardCurve:
        return evaluation_curve(self.evaluations, self.curve.max_steps)

    @cached_property
    def _series(self) -> dict[tuple[str, float], Series]:
        return {}


@dataclass(frozen=True, slots=True)
class PruneDecision:
    """A reason, and the numbers that it rests on. Rewards are in the user's own sign.

    step: the last step that was seen. check: the share of the run whose check this was, None between checks.
    forecast: at checks and stops, None else. incumbent: the level to beat, incumbent_key: whose it is.
    margin: how far the hopeful forecast is above the incumbent, negative where it falls short (in either direction).
    numbers: what the tests compared.
    """

    reason: PruneReason
    step: int
    check: float | None = None
    forecast: Forecast | None = None
    incumbent: float | None = None
    incumbent_key: str | None = None
    margin: float | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)

    @property
    def stop(self) -> bool:
        return self.reason.stops

    @property
    def sentence(self) -> str:
        """The decision in one sentence, with its numbers."""
        verb = "stopped" if self.stop else "goes on"
        return f"{verb} at step {self.step}: {self.reason.words}{self._evidence()}"

    @property
    def brief(self) -> str:
        """Why, in half a line: the numbers that decided."""
        if self.reason is PruneReason.HOPELESS and self.incumbent is not None:
            hopeful, whose = self.numbers["hopeful"], self.incumbent_key or "the incumbent"
            return f"read hopefully, its curve ends at {hopeful:.3g}, below the {self.incumbent:.3g} of {whose}"
        if self.reason is PruneReason.PLATEAU and self.forecast is not None:
            return f"hardly any gain is left: now {self.forecast.last_value:.3g}, forecast {self.forecast.mean:.3g}"
        if self.reason is PruneReason.DIVERGED and self.forecast is not None:
            return f"fell to {self.forecast.last_value:.3g}, far below its own best"
        return self.reason.words

    def as_attribute(self) -> dict[str, Any]:
        """The decision as JSON of less than 1 kB."""
        return {
            "reason": self.reason.value,
            "stop": self.stop,
            "step": self.step,
            "check": self.check,
            "forecast": None if self.forecast is None else _brief(self.forecast),
            "incumbent": _short(self.incumbent),
            "incumbent_key": self.incumbent_key and self.incumbent_key[:80],
            "margin": _short(self.margin),
            "numbers": {name: _short(value) for name, value in self.numbers.items()},
        }

    def _evidence(self) -> str:
        parts = []
        if self.forecast is not None:
            parts.append(f"forecast {self.forecast.mean:.3g} ({self.forecast.low:.3g} to {self.forecast.high:.3g})")
        if self.incumbent is not None:
            parts.append(
                f"incumbent {self.incumbent:.3g}" + (f" of {self.incumbent_key}" if self.incumbent_key else "")
            )
        return f" [{', '.join(parts)}]" if parts else ""


def _brief(forecast: Forecast) -> dict[str, Any]:
    numbers = {name: _short(getattr(forecast, name)) for name in ("mean", "low", "high", "level")}
    return numbers | {"phase": forecast.phase.value, "calibration": forecast.calibration}


def _short(value: float | None) -> float | None:
    return None if value is None else or_none(float(f"{value:.5g}"))
