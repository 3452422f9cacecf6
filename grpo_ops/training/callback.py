"""What happens around TRL's steps: journal, stop requests, evaluations, checkpoints."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState

from grpo_ops.errors import JournalError, TrainingError
from grpo_ops.evaluation import evaluate
from grpo_ops.journal import Journal, RunFolder
from grpo_ops.specs import EvaluationSpec, RunSpec
from grpo_ops.training.build import Bench
from grpo_ops.training.history import History, Saved
from grpo_ops.training.interruption import Interruption
from grpo_ops.training.keeper import drop_other_bests, resume_checkpoint, save_best
from grpo_ops.training.progress import Progress
from grpo_ops.training.weights import check_in_memory

#: Endings after which nobody wants one more evaluation, or there is no time for it.
UNEVALUATED = frozenset({"hopeless", "diverged", "cancelled", "preempted"})


class NothingToDo(Exception):
    """Raised before the first step of a run that has done all its steps, or is to stop."""


@dataclass
class RunCallback(TrainerCallback):  # type: ignore[misc]
    """Called by transformers' Trainer; `progress` is kept up to date."""

    folder: RunFolder
    spec: RunSpec
    journal: Journal
    bench: Bench
    history: History
    interruption: Interruption
    progress: Progress

    def __post_init__(self) -> None:
        self._asked = set(self.history.asked)

    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Check that a checkpoint was really loaded; evaluate what is not evaluated yet; maybe end right here."""
        if self.history.resume is not None:
            check_in_memory(self.bench.model, self.folder.path / self.history.resume.path)
        done = state.global_step >= state.max_steps
        self.progress.stop = None if done else self._agreed_request()
        if self._evaluates_at(state.global_step, done) and state.global_step not in self.history.evaluated:
            self._evaluate(state.global_step)
        self._answer(state.global_step)
        if done or self.progress.stop is not None:
            raise NothingToDo

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Decide, on all ranks alike, whether this step was the last one and whether it is saved."""
        self.progress.step = state.global_step
        self.interruption.worth_saving = True
        done = state.global_step >= state.max_steps
        self.progress.stop = None if done else self._agreed_request()
        control.should_training_stop = done or self.progress.stop is not None
        control.should_save = control.should_training_stop or state.global_step % self.spec.checkpoints.every == 0

    def on_log(
        self, args: Any, state: TrainerState, control: TrainerControl, logs: Mapping[str, Any] | None = None, **_: Any
    ) -> None:
        """Write the step's line, then do what is due after it."""
        if logs is None or "train_runtime" in logs:
            return
        metrics = {name: float(value) for name, value in logs.items() if isinstance(value, int | float)}
        self.journal.step(state.global_step, metrics)
        if not math.isfinite(metrics.get("reward", 0.0)):
            raise TrainingError(f"the reward of step {state.global_step} is {metrics['reward']}")
        if self._evaluates_at(state.global_step, control.should_training_stop):
            self._evaluate(state.global_step)
        self._answer(state.global_step)

    def on_save(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """The checkpoint is complete: say so."""
        if state.is_world_process_zero:
            self.progress.last = resume_checkpoint(self.folder, state.global_step)
            self._journal_checkpoint(self.progress.last, "resume")

    def _agreed_request(self) -> Mapping[str, str] | None:
        """The stop request as rank 0 sees it: ranks that left at different steps would wait for each other for ever."""
        request = self.folder.stop_request() or self.interruption.request()
        if self.bench.trainer.accelerator.num_processes == 1:
            return request
        from accelerate.utils import broadcast_object_list

        return broadcast_object_list([request])[0]  # type: ignore[no-any-return]

    def _evaluates_at(self, step: int, is_last: bool) -> bool:
        stop = self.progress.stop
        if stop is not None and stop["reason"] in UNEVALUATED:
            return False
        return is_last or step % self.spec.evaluation.every == 0

    def _evaluate(self, step: int) -> None:
        """The regular evaluation; if it is the best so far (the untrained model aside), the weights are kept."""
        mean = self._run_evaluation(step, self.spec.evaluation, self.bench.task.eval)
        best = self.progress.best
        if step == 0 or mean is None or (best is not None and mean <= best.score):
            return
        if self.bench.trainer.is_world_process_zero():
            self.progress.best = save_best(self.folder, self.bench.model, self.bench.tokenizer, step, mean)
            self._journal_checkpoint(self.progress.best, "best")
            drop_other_bests(self.folder, self.progress.best)

    def _answer(self, step: int) -> None:
        """Evaluate what RUN/ask.json asks for, once an id."""
        try:
            ask = self.folder.read_json(self.folder.ask)
        except JournalError:
            return  # whoever writes it is not done yet
        if ask is None or str(ask["id"]) in self._asked:
            return
        self._asked.add(str(ask["id"]))
        rows, wanted = self.bench.task.eval, ask.get("prompts")
        chosen = rows[:wanted] if isinstance(wanted, int) else [row for row in rows if row.id in set(wanted or ())]
        seed = self.spec.evaluation.seed if ask.get("seed") is None else ask["seed"]
        self._run_evaluation(step, self.spec.evaluation.model_copy(update={"seed": seed}), chosen, ask["id"])

    def _run_evaluation(self, step: int, spec: EvaluationSpec, rows: Any, ask: Any = None) -> float | None:
        started = time.monotonic()
        result = evaluate(
            self.bench.model,
            self.bench.tokenizer,
            rows,
            self.bench.rewards,
            spec,
            self.spec.grpo.max_completion_length,
            step,
        )
        mean = result.mean if math.isfinite(result.mean) else None
        self.journal.append(
            "evaluation",
            step=step,
            mean=mean,
            digest=result.digest,
            prompt_ids=result.prompt_ids,
            outcomes=result.outcomes,
            seconds=round(time.monotonic() - started, 3),
            ask=ask,
        )
        return mean

    def _journal_checkpoint(self, saved: Saved, role: str) -> None:
        self.journal.append("checkpoint", step=saved.step, path=saved.path, sha256=saved.sha256, role=role)
