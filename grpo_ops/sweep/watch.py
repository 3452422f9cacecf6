"""One run as its supervisor sees it: journal lines in; MLflow metrics, a row for people and a decision out."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grpo_ops.curve import Evaluation, Observation, RewardCurve
from grpo_ops.journal import Entry, entry_evaluation
from grpo_ops.law import Forecast, forecast
from grpo_ops.pruning import PruneDecision, PruneRule, TrialView, decide
from grpo_ops.pruning.types import TrialState
from grpo_ops.specs import RunSpec, SweepSpec
from grpo_ops.supervise import Ending, RunResult
from grpo_ops.sweep.board import Row, concluded, final_reward
from grpo_ops.tracking import Tracker

Others = Callable[[], Sequence[TrialView]]
#: Law metrics on training reward are logged so many times a run; on evaluations at each one.
_LAW_POINTS = 50


def rule_for(spec: RunSpec, metric: str, direction: str = "maximize", caution: float = 0.6) -> PruneRule:
    """The rule by which a run of `spec` is judged, alone or in a study."""
    return PruneRule(
        caution=caution,
        metric="eval_reward" if metric == "eval_reward" else "reward",
        direction="minimize" if direction == "minimize" else "maximize",
        plateau=spec.stopping.plateau,
        min_gain=spec.stopping.min_gain,
        collapse=spec.stopping.diverged,
    )


@dataclass(eq=False)
class Watch:
    """A run from its first line to its result."""

    spec: RunSpec
    rule: PruneRule
    tracker: Tracker
    row: Row
    prunes: bool = True
    rows: dict[int, Observation] = field(default_factory=dict)
    evaluations: dict[int, Evaluation] = field(default_factory=dict)
    decision: PruneDecision | None = None
    forecast: Forecast | None = None

    def take(self, entries: Sequence[Entry], others: Others = tuple) -> PruneDecision | None:
        """Take new journal lines; the decision that stops the run, or None. Each new point is judged in turn."""
        self.tracker.log(entries)
        stop = None
        for entry in entries:
            if self._add(entry) and stop is None:
                decision = self._judge(entry, others())
                stop = decision if decision.stop and self.prunes else None
        return stop

    def recall(self, entries: Sequence[Entry]) -> None:
        """Take the lines of earlier attempts, which the tracker has read itself: nothing is judged again."""
        for entry in entries:
            self._add(entry)

    def view(self, state: TrialState = "running") -> TrialView:
        """The run as the judge sees it now."""
        steps = sorted(self.rows)
        curve = RewardCurve(tuple(steps), tuple(self.rows[step].reward for step in steps), self.spec.grpo.max_steps)
        evaluations = tuple(self.evaluations[step] for step in sorted(self.evaluations))
        return TrialView(self.row.key, curve, evaluations, state, self.row.parameters)

    def conclude(self, result: RunResult) -> None:
        """Put the result into the row; where the judge stopped the run, its words are the reason."""
        stop = self.decision if self.prunes and self.decision and self.decision.stop else None
        judged = stop is not None and stop.reason.value == result.ending.value
        self.row = concluded(self.row, result, stop.brief if stop and judged else None)

    def _add(self, entry: Entry) -> bool:
        """Whether the entry is a new point of the judged curve. A step's first value counts."""
        if entry["kind"] == "step":
            return self._add_step(entry)
        if entry["kind"] == "evaluation" and entry.get("ask") is None and entry["step"] not in self.evaluations:
            self.evaluations[entry["step"]] = entry_evaluation(entry)
            scores = [evaluation.mean for evaluation in self.evaluations.values()]
            self.row = replace(self.row, evaluation=max(scores), judged=self._judged())
            return self.rule.metric == "eval_reward"
        return False

    def _add_step(self, entry: Entry) -> bool:
        reward: float | None = entry["metrics"].get("reward")
        if reward is None or entry["step"] in self.rows:
            return False
        self.rows[entry["step"]] = Observation(entry["step"], reward)
        self.row = replace(self.row, step=entry["step"], reward=reward, judged=self._judged())
        return self.rule.metric == "reward"

    def _judged(self) -> tuple[float, ...]:
        if self.rule.metric == "eval_reward":
            return tuple(evaluation.mean for evaluation in self.evaluations.values())
        return tuple(row.reward for row in self.rows.values())

    def _judge(self, entry: Entry, others: Sequence[TrialView]) -> PruneDecision:
        trial = self.view()
        self.decision = decide(trial, others, self.rule)
        every = max(1, self.spec.grpo.max_steps // _LAW_POINTS)
        if self.rule.metric == "eval_reward" or entry["step"] % every == 0 or self.decision.stop:
            self._note_forecast(entry, self.decision.forecast or self._own_forecast(trial, others))
        return self.decision

    def _own_forecast(self, trial: TrialView, others: Sequence[TrialView]) -> Forecast:
        siblings = [other.judged(self.rule) for other in others if other.state == "finished"]
        return forecast(trial.judged(self.rule), siblings=siblings)

    def _note_forecast(self, entry: Entry, found: Forecast) -> None:
        self.forecast = found
        values = law_metrics(found)
        if values:
            self.tracker.log_law(entry["step"], values, entry["time"])
        if math.isfinite(found.mean):
            known = found.low < found.high  # a curve that never moved has no band, and an unknown one is NaN
            low, high = (found.low, found.high) if known else (None, None)
            self.row = replace(self.row, forecast=found.mean, low=low, high=high)


def law_metrics(found: Forecast) -> dict[str, float]:
    """The forecast under the metric names of MLflow; what is not known is left out."""
    values = {"law/forecast": found.mean, "law/forecast_low": found.low, "law/forecast_high": found.high}
    if found.plateau_step is not None:
        values["law/plateau_step"] = float(found.plateau_step)
    return {name: value for name, value in values.items() if math.isfinite(value)}


def view_of(result: RunResult, parameters: Mapping[str, Any]) -> TrialView:
    """A run that is over, as the judge of the others sees it."""
    states: dict[bool, TrialState] = {True: "finished", False: "pruned" if result.ending.is_pruned else "failed"}
    return TrialView(result.key, result.curve, result.evaluations, states[result.ending.is_success], parameters)


def objective_value(spec: SweepSpec, result: RunResult) -> float | None:
    """What Optuna is told: the best held-out evaluation, or the training reward over the last tenth."""
    if spec.objective == "reward":
        return final_reward(result.curve)
    scores = [evaluation.mean for evaluation in result.evaluations if math.isfinite(evaluation.mean)]
    best = max if spec.direction == "maximize" else min
    return best(scores, default=None)


def is_retriable(result: RunResult) -> bool:
    """Whether another attempt may end otherwise: not where a reward, a spec or a checkpoint is at fault."""
    hopeless = ("RewardError", "TaskError", "SpecError", "TrainingError", "JournalError")
    return result.ending in (Ending.FAILED, Ending.CANCELLED) and not result.reason.startswith(hopeless)
