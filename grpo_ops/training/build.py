"""The TRL trainer of a spec, and what goes with it."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grpo_ops.journal import RunFolder
from grpo_ops.specs import RunSpec
from grpo_ops.tasks import Reward, Row, Task, load_rewards, load_task, room_for
from grpo_ops.training.assignment import Assignment
from grpo_ops.training.models import load_model, lora_config
from grpo_ops.training.rollouts import rollout_settings


@dataclass(frozen=True)
class Bench:
    """A TRL trainer with the task and the rewards that it was made from.

    notes: what a person should know of the data, one sentence each.
    """

    trainer: Any
    task: Task
    rewards: list[Reward]
    tokenizer: Any
    notes: tuple[str, ...] = ()

    @property
    def model(self) -> Any:
        """The model that is trained, out of whatever wraps it on several GPUs."""
        return self.trainer.accelerator.unwrap_model(self.trainer.model)

    def gathered_weights(self) -> Any:
        """The state dict from all ranks, to be called on each; None where this process has all of it."""
        if self.trainer.accelerator.num_processes == 1:
            return None
        return self.trainer.accelerator.get_state_dict(self.trainer.model_wrapped)


def build(folder: RunFolder, assignment: Assignment) -> Bench:
    """Load model, task and rewards. Raises TaskError, TrainingError, or what TRL raises for settings it refuses."""
    spec = assignment.spec
    model, tokenizer = load_model(spec.model)
    room = room_for(spec, tokenizer, getattr(model.config.get_text_config(), "max_position_embeddings", None))
    task = load_task(spec.task, spec.evaluation, room)
    rewards = load_rewards(spec.rewards, task, allow_import_paths=assignment.allow_import_paths)
    for reward in rewards:
        reward.start()
    from transformers import PrinterCallback

    from grpo_ops.training.exact import ExactTrainer

    _be_quiet()
    trainer = ExactTrainer(
        model=model,
        reward_funcs=list(rewards),
        args=grpo_config(spec, folder),
        train_dataset=as_dataset(task.train),
        processing_class=tokenizer,
        peft_config=lora_config(spec.lora),
    )
    trainer.remove_callback(PrinterCallback)  # each step is in the journal, the log need not repeat it
    note = None if room is None else room.note()
    return Bench(trainer, task, rewards, tokenizer, (f"task: {note}",) if note else ())


def grpo_config(spec: RunSpec, folder: RunFolder) -> Any:
    """trl.GRPOConfig: the spec's settings under their own names, and those that grpo-ops sets itself."""
    import torch
    from trl import GRPOConfig

    settings = spec.grpo.model_dump(exclude={"extra"}) | spec.grpo.extra | rollout_settings(spec.rollouts, folder)
    on_cpu = not torch.cuda.is_available()
    if on_cpu and settings["bf16"] is None:
        settings["bf16"] = False
    return GRPOConfig(
        output_dir=str(folder.checkpoints),
        report_to="none",
        disable_tqdm=True,
        logging_steps=1,
        save_strategy="no",  # when to save is decided by RunCallback; transformers still does the saving
        save_total_limit=2,  # the older one is the way back while the newer one is not in the journal yet
        seed=spec.seed,
        reward_weights=[reward.weight for reward in spec.rewards],
        use_cpu=on_cpu,
        **({"dataloader_pin_memory": False} if on_cpu else {}) | settings,
    )


def as_dataset(rows: Sequence[Row]) -> Any:
    """A datasets.Dataset that hands out `rows` as they are: Arrow would force one schema on every nested column."""
    from datasets import Dataset

    fields = [row.fields() for row in rows]
    names = list(fields[0])

    def at(batch: dict[str, list[int]]) -> dict[str, list[Any]]:
        return {name: [fields[index][name] for index in batch["index"]] for name in names}

    return Dataset.from_dict({"index": list(range(len(fields)))}).with_transform(at)


def _be_quiet() -> None:
    import datasets
    from transformers.utils import logging as transformers_logging

    datasets.disable_progress_bars()
    transformers_logging.disable_progress_bar()
    logging.getLogger("httpx").setLevel(logging.WARNING)
