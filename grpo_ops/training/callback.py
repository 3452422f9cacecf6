"""What happens around TRL's steps: journal, stop requests, evaluations, checkpoints."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState

from grpo_ops.errors import JournalError
from grpo_ops.evaluation import evaluate
from grpo_ops.journal import Journal, RunFolder
from grpo_ops.specs import EvaluationSpec, RunSpec
from grpo_ops.training.build import Bench
from grpo_ops.training.health import Health
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
        self._ask: Mapping[str, Any] | None = None
        self._save_is_due = False
        self._health = Health.of(self.folder, self.journal, self.spec)

    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **given: Any) -> None:
        """Check that a checkpoint was really loaded; evaluate what is not evaluated yet; maybe end right here."""
        if self.history.resume is not None:
            check_in_memory(self.bench.model, self.folder.path / self.history.resume.path)
            self.bench.trainer.go_on_from(state.global_step, len(given["train_dataloader"]))
        done = state.global_step >= state.max_steps
        ask = self._agree(done)
        if self._evaluates_at(state.global_step, done) and state.global_step not in self.history.evaluated:
            self._evaluate(state.global_step)
        self._answer(ask, state.global_step)
        if done or self.progress.stop is not None:
            raise NothingToDo

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Decide, on all ranks alike, whether this step was the last one and whether it is saved."""
        self.progress.step = state.global_step
        self.interruption.worth_saving = True
        done = state.global_step >= state.max_steps
        self._ask = self._agree(done)
        control.should_training_stop = done or self.progress.stop is not None
        self._save_is_due = self._save_is_due or state.global_step % self.spec.checkpoints.every == 0
        is_whole = self._save_is_due and self.bench.trainer.is_between_generations
        control.should_save = control.should_training_stop or is_whole
        self._save_is_due = self._save_is_due and not control.should_save

    def on_log(
        self, args: Any, state: TrainerState, control: TrainerControl, logs: Mapping[str, Any] | None = None, **_: Any
    ) -> None:
        """Write the step's line, then do what is due after it."""
        if logs is None or "train_runtime" in logs:
            return
        metrics = {name: float(value) for name, value in logs.items() if isinstance(value, int | float)}
        self.journal.step(state.global_step, metrics)
        self._health.check(state.global_step, metrics, self.bench.model)
        if state.is_world_process_zero:
            self._health.look(state.global_step)
        if self._evaluates_at(state.global_step, control.should_training_stop):
            self._evaluate(state.global_step)
        self._answer(self._ask, state.global_step)

    def on_save(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """The checkpoint is complete: say so."""
        if state.is_world_process_zero:
            self.progress.last = resume_checkpoint(self.folder, state.global_step)
            self._journal_checkpoint(self.progress.last, "resume")

    def _agree(self, done: bool) -> Mapping[str, Any] | None:
        """Note the stop request and return what RUN/ask.json asks for, on all ranks alike: as rank 0 sees them.

        Ranks that left at different steps would wait for each other for ever.
        """
        request = None if done else self.folder.stop_request() or self.interruption.request()
        agreed: list[Mapping[str, Any] | None] = self._as_first_rank([request, self._read_ask()])
        self.progress.stop, ask = agreed
        return ask

    def _as_first_rank(self, values: list[Any]) -> list[Any]:
        if self.bench.trainer.accelerator.num_processes == 1:
            return values
        from accelerate.utils import broadcast_object_list

        return broadcast_object_list(values)  # type: ignore[no-any-return]

    def _read_ask(self) -> Mapping[str, Any] | None:
        try:
            return self.folder.read_json(self.folder.ask)  # type: ignore[no-any-return]
        except JournalError:
            return None  # whoever writes it is not done yet

    def _evaluates_at(self, step: int, is_last: bool) -> bool:
        stop = self.progress.stop
        if stop is not None and stop["reason"] in UNEVALUATED:
            return False
        return is_last or step % self.spec.evaluation.every == 0

    def _evaluate(self, step: int) -> None:
        """The regular evaluation; if it is the best so far (the untrained model aside), the weights are kept."""
        own = self._run_evaluation(step, self.spec.evaluation, self.bench.task.eval)
        mean, best = self._as_first_rank([own, self.progress.best])
        if step == 0 or mean is None or (best is not None and mean <= best.score):
            return
        weights = self.bench.gathered_weights()
        if self.bench.trainer.is_world_process_zero():
            self.progress.best = save_best(self.folder, self.bench.model, self.bench.tokenizer, step, mean, weights)
            self._journal_checkpoint(self.progress.best, "best")
            drop_other_bests(self.folder, self.progress.best)

    def _answer(self, ask: Mapping[str, Any] | None, step: int) -> None:
        """Evaluate what was asked for, once an id."""
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
