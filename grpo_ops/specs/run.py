"""RunSpec: one GRPO run as a person writes it."""

from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from grpo_ops.specs.base import Spec
from grpo_ops.specs.data import TaskSpec
from grpo_ops.specs.grpo import GRPOSettings, LoraSettings
from grpo_ops.specs.launch import LaunchSpec
from grpo_ops.specs.reward import RewardSpec, reward_digest, reward_faults
from grpo_ops.specs.rollouts import RolloutSpec
from grpo_ops.specs.task import CheckpointSpec, EvaluationSpec, ModelSpec, StoppingSpec


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
    launch: LaunchSpec = LaunchSpec()
    rollouts: RolloutSpec = RolloutSpec()

    @model_validator(mode="after")
    def _consistent(self) -> "RunSpec":
        faults = reward_faults(self.rewards)
        if "starter" in self.task.sources and not self.model.is_starter:
            faults.append(
                f"task.source: 'starter' prompts suit starter models only, not {self.model.id!r}; name a source"
            )
        if self.task.in_order and self.grpo.shuffle_dataset:
            faults.append(
                "task.order: prompts in a chosen order need grpo.shuffle_dataset = false, else TRL draws them at random"
            )
        faults += [f"grpo.{fault}" for fault in self.grpo.batch_faults(self.launch.processes)]
        beside = self.rollouts.faults_beside(self.launch.processes, self.grpo.max_completion_length)
        faults += [f"rollouts.{fault}" for fault in beside]
        if faults:
            raise ValueError("\n".join(faults))
        return self

    @model_serializer(mode="wrap")
    def _without_default_rollouts(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The key of a run is a digest of this: a table that says nothing must not change that of older runs."""
        data: dict[str, Any] = handler(self)
        if self.rollouts == RolloutSpec():
            data.pop("rollouts", None)
        return data

    @property
    def reward_digest(self) -> str:
        """Names what `reward` measures: it is comparable between runs with equal digests."""
        return reward_digest(self.rewards)
