"""RunSpec: one GRPO run as a person writes it."""

from collections import Counter

from pydantic import Field, model_validator

from grpo_ops.specs.base import Spec
from grpo_ops.specs.grpo import GRPOSettings, LoraSettings
from grpo_ops.specs.task import CheckpointSpec, EvaluationSpec, ModelSpec, RewardSpec, StoppingSpec, TaskSpec


class RunSpec(Spec):
    """One GRPO run: model, task, rewards, settings under TRL's and PEFT's names, evaluation, checkpoints, stopping."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,63}$")
    """Names the run (or the study's runs): lowercase letters, digits, `_`, `.`, `-`."""
    seed: int = Field(0, ge=0)
    """Seeds the training: data order, rollouts, LoRA initialisation."""
    experiment: str = Field("grpo-ops", min_length=1)
    """MLflow experiment."""
    model: ModelSpec
    task: TaskSpec
    rewards: tuple[RewardSpec, ...] = Field(min_length=1)
    grpo: GRPOSettings
    lora: LoraSettings | None = None
    """Train a LoRA adapter; without this table all weights are trained."""
    evaluation: EvaluationSpec = EvaluationSpec()
    checkpoints: CheckpointSpec = CheckpointSpec()
    stopping: StoppingSpec = StoppingSpec()

    @model_validator(mode="after")
    def _consistent(self) -> "RunSpec":
        counts = Counter(reward.logged_as for reward in self.rewards)
        faults = [
            f"rewards: {count} rewards would be logged as {name!r}; give each its own log_name"
            for name, count in counts.items()
            if count > 1
        ]
        if self.task.source == "starter" and not self.model.is_starter:
            faults.append(
                f"task.source: 'starter' prompts suit starter models only, not {self.model.id!r}; name a source"
            )
        if faults:
            raise ValueError("\n".join(faults))
        return self
