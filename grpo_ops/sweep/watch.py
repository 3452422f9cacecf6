"""One run as its supervisor sees it: journal lines in; MLflow metrics, a row for people and a decision out."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grpo_ops.curve import Evaluation, Observation, RewardCurve
from grpo_ops.ending import Ending
from grpo_ops.journal import Entry, entry_evaluation
from grpo_ops.law import Forecast
from grpo_ops.pruning import PruneDecision, PruneReason, PruneRule, TrialView, decide, forecast_trial
from grpo_ops.pruning.types import TrialState
from grpo_ops.specs import PrunerSpec, RunSpec, SweepSpec
from grpo_ops.supervise import RunResult
from grpo_ops.sweep.board import Row, concluded, final_reward
from grpo_ops.sweep.measure import answered_step, merged, question_about
from grpo_ops.tracking import Tracker

Others = Callable[[], Sequence[TrialView]]
#: Law metrics on training reward are logged so many times a run; on evaluations at each one.
_LAW_POINTS = 50


def rule_for(spec: RunSpec, metric: str, pruner: PrunerSpec | None = None) -> PruneRule:
    """The rule by which a run of `spec` is judged, alone or in a study with this pruner.

    Under another pruner than `law` a plateau ends a run only where its spec asks for it: `none` and Optuna's own are
    there to be compared with.
    """
    by_evaluation, plateau = metric == "eval_reward", spec.stopping.plateau
    pruner = pruner or PrunerSpec()
    return PruneRule(
        caution=pruner.caution,
        metric="eval_reward" if by_evaluation else "reward",
        plateau=by_evaluation and pruner.name == "law" if plateau is None else plateau,
        min_gain=spec.stopping.min_gain,
        collapse=spec.stopping.diverged,
    )


@dataclass(eq=False)
class Watch:
    """A run from its first line to its result. prunes: whether it is compared with other runs at all.

    thawed: the ending that it had before it was thawed, None for a run that was never stopped. measures: whether a
    close call is measured once more; then `question` is what its trainer is to be asked, until it is taken.
    """

    spec: RunSpec
    rule: PruneRule
    tracker: Tracker
    row: Row
    prunes: bool = True
    thawed: Ending | None = None
    measures: bool = False
    question: Mapping[str, Any] | None = None
    rows: dict[int, Observation] = field(default_factory=dict)
    evaluations: dict[int, Evaluation] = field(default_factory=dict)
    measured: set[int] = field(default_factory=set)
    decision: PruneDecision | None = None
    forecast: Forecast | None = None

    def take(self, entries: Sequence[Entry], others: Others = tuple) -> PruneDecision | None:
        """Take new journal lines; the decision that stops the run, or None. Each new point is judged in turn."""
        self.tracker.log(entries)
        for entry in entries:
            if self._add(entry) and not self.is_stopped:
                self._judge(entry, others() if self.prunes else ())
                if self.is_stopped:
                    return self.decision
        return None

    def take_question(self) -> Mapping[str, Any] | None:
        """What the trainer is to be asked now, once; None for nothing."""
        question, self.question = self.question, None
        return question

    @property
    def is_stopped(self) -> bool:
        """Whether the judge has stopped it; what comes after that is not judged."""
        return self.decision is not None and self.decision.stop

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
        judged = self.is_stopped and self.decision is not None and self.decision.reason.value == result.ending.value
        self.row = concluded(self.row, result, self.decision.brief if judged and self.decision else None)

    def _add(self, entry: Entry) -> bool:
        """Whether the entry is a new point of the judged curve. A step's first value counts."""
        if entry["kind"] == "step":
            return self._add_step(entry)
        if entry["kind"] == "evaluation" and entry.get("ask") is None and entry["step"] not in self.evaluations:
            self.evaluations[entry["step"]] = entry_evaluation(entry)
            scores = [evaluation.mean for evaluation in self.evaluations.values()]
            self.row = replace(self.row, evaluation=max(scores), judged=self._judged())
            return self.rule.metric == "eval_reward"
        return self._add_answer(entry)

    def _add_answer(self, entry: Entry) -> bool:
        """Whether the entry settles a close call that is still the last word on this run."""
        step = answered_step(entry)
        if step is None or step not in self.evaluations or step in self.measured:
            return False
        self.measured.add(step)
        self.evaluations[step] = merged(self.evaluations[step], entry_evaluation(entry))
        self.row = replace(self.row, measured=self.row.measured + len(entry["outcomes"]), judged=self._judged())
        return step == max(self.evaluations)

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

    def _judge(self, entry: Entry, others: Sequence[TrialView]) -> None:
        trial = self.view()
        self.decision = decide(trial, others, self.rule)
        self._ask_if_close()
        every = max(1, self.spec.grpo.max_steps // _LAW_POINTS)
        if self.rule.metric == "eval_reward" or entry["step"] % every == 0 or self.decision.stop:
            self._note_forecast(entry, self.decision.forecast or forecast_trial(trial, others, self.rule))

    def _ask_if_close(self) -> None:
        """At a close call that has not been measured yet, have the trainer asked for more of the same."""
        if not self.measures or self.rule.metric != "eval_reward" or self.decision is None:
            return
        last = max(self.evaluations)
        if self.decision.reason is PruneReason.CLOSE_CALL and last not in self.measured:
            self.question = question_about(self.evaluations[last], self.spec.evaluation)

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
    return TrialView(result.key, result.curve, result.evaluations, state_of(result.ending), parameters)


def state_of(ending: Ending) -> TrialState:
    """An ending in the judge's terms: a plateau stop is as good as a finished run."""
    if ending.is_success:
        return "finished"
    return "pruned" if ending.is_pruned else "failed"


def objective_value(spec: SweepSpec, result: RunResult) -> float | None:
    """What Optuna is told: the best held-out evaluation, or the training reward over the last tenth."""
    if spec.objective == "reward":
        return final_reward(result.curve)
    scores = [evaluation.mean for evaluation in result.evaluations if math.isfinite(evaluation.mean)]
    return max(scores, default=None)


def is_retriable(result: RunResult) -> bool:
    """Whether another attempt may end otherwise: not where a reward, a task, a spec or a checkpoint is at fault."""
    at_fault = ("RewardError", "TaskError", "SpecError", "TrainingError", "JournalError")
    return not result.reason.startswith(at_fault)
