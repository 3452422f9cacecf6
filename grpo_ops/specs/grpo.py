"""GRPO and LoRA settings under TRL's and PEFT's own names, types and defaults (a test compares them)."""

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from grpo_ops.specs.base import Spec
from grpo_ops.specs.choices import (
    Aggregation,
    ImportanceSamplingLevel,
    LossType,
    Optimizer,
    ScaleRewards,
    Scheduler,
)
from grpo_ops.specs.rollouts import DERIVED, RolloutSpec

#: Fields of trl.GRPOConfig that grpo-ops sets itself: not to be set by hand, not even through `extra`.
OWNED = frozenset(
    {
        *("output_dir", "run_name", "project", "report_to", "disable_tqdm", "log_completions"),
        *("logging_steps", "logging_strategy", "logging_first_step"),
        *("save_strategy", "save_steps", "save_total_limit", "save_only_model", "load_best_model_at_end"),
        *("eval_strategy", "eval_steps", "eval_on_start", "do_train", "do_eval", "do_predict"),
        *("seed", "data_seed", "reward_weights", "resume_from_checkpoint", "model_init_kwargs", "trust_remote_code"),
        *("push_to_hub", "hub_token", "hub_model_id", "use_cpu"),
        *DERIVED,
    }
)

_ENGINE = 'rollouts.engine = "vllm-colocate" or "vllm-server" decides it'
_CLIP = "TRL has deprecated it, write rollouts.vllm_importance_sampling_clip_max"

#: Settings that constrain each other.
BATCH = (
    "num_generations",
    "per_device_train_batch_size",
    "gradient_accumulation_steps",
    "steps_per_generation",
    "generation_batch_size",
)


class GRPOSettings(Spec):
    """Settings of trl.GRPOConfig. Those not written out here go into `extra` under TRL's names."""

    max_steps: int = Field(gt=0)
    """Optimiser steps of the whole run: the horizon of every forecast (TRL's default, epochs, gives none)."""
    learning_rate: float = Field(1e-6, gt=0)
    """Peak learning rate."""
    lr_scheduler_type: Scheduler = "linear"
    """Learning rate schedule, by transformers' name: linear, constant, cosine, constant_with_warmup, ..."""
    warmup_steps: float = Field(0, ge=0)
    """Steps of linear warm-up; below 1, a share of max_steps."""
    optim: Optimizer = "adamw_torch_fused"
    """Optimizer by transformers' name."""
    weight_decay: float = Field(0.0, ge=0)
    adam_beta1: float = Field(0.9, ge=0, lt=1)
    adam_beta2: float = Field(0.999, ge=0, lt=1)
    max_grad_norm: float = Field(1.0, ge=0)
    """Gradients are clipped to this norm."""
    per_device_train_batch_size: int = Field(8, gt=0)
    """Completions (not prompts) a device trains on in one micro step."""
    gradient_accumulation_steps: int = Field(1, gt=0)
    steps_per_generation: int | None = Field(None, gt=0)
    """Micro steps that share one generation; TRL's default is gradient_accumulation_steps."""
    generation_batch_size: int | None = Field(None, gt=0)
    """Completions generated at once; give this or steps_per_generation, not both."""
    gradient_checkpointing: bool = True
    bf16: bool | None = None
    """bfloat16 training; TRL's default is on unless fp16, and off where there is no GPU."""
    fp16: bool = False
    num_generations: int = Field(8, ge=2)
    """Completions a prompt (the group): the batch must be a multiple of it."""
    max_completion_length: int = Field(512, gt=0)
    """Longest completion, in tokens."""
    temperature: float = Field(1.0, gt=0)
    """Sampling temperature of the rollouts."""
    top_p: float = Field(1.0, gt=0, le=1)
    top_k: int = Field(0, ge=0)
    min_p: float | None = Field(None, ge=0, le=1)
    repetition_penalty: float = Field(1.0, gt=0)
    beta: float = Field(0.0, ge=0)
    """Weight of the KL term; 0 loads no reference model."""
    num_iterations: int = Field(1, gt=0)
    """Optimiser passes over each generated batch."""
    epsilon: float = Field(0.2, gt=0)
    epsilon_high: float | None = Field(None, gt=0)
    loss_type: LossType = "dapo"
    scale_rewards: ScaleRewards = "group"
    importance_sampling_level: ImportanceSamplingLevel = "token"
    multi_objective_aggregation: Aggregation = "sum_then_normalize"
    mask_truncated_completions: bool = False
    shuffle_dataset: bool = True
    """Draw the prompts in random order."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """Any other field of trl.GRPOConfig, by its name."""

    def completions_per_generation(self, processes: int = 1) -> int:
        """Completions of one generation over all processes: a multiple of num_generations."""
        if self.generation_batch_size is not None:
            return self.generation_batch_size
        micro_steps = self.steps_per_generation or self.gradient_accumulation_steps
        return self.per_device_train_batch_size * processes * micro_steps

    @model_validator(mode="after")
    def _consistent(self) -> "GRPOSettings":
        faults = [*self._size_faults(), *self._extra_faults()]
        if faults:
            raise ValueError("\n".join(faults))
        return self

    def batch_faults(self, processes: int = 1) -> list[str]:
        """What the settings in `BATCH` have against each other: a generation must hold whole groups."""
        if self._size_faults():
            return self._size_faults()
        size, group = self.completions_per_generation(processes), self.num_generations
        step = self.per_device_train_batch_size * processes
        faults = []
        if size % group:
            valid = [g for g in range(2, size + 1) if size % g == 0]
            faults.append(
                f"num_generations: {size} completions a generation are not divisible by num_generations = {group}; "
                f"valid here: {', '.join(map(str, valid)) or 'none (raise per_device_train_batch_size)'}"
            )
        if size % step:
            faults.append(
                f"generation_batch_size: {size} must be a multiple of per_device_train_batch_size = "
                f"{self.per_device_train_batch_size}" + (f" x {processes} processes" if processes > 1 else "")
            )
        return faults

    def _size_faults(self) -> list[str]:
        if self.generation_batch_size is not None and self.steps_per_generation is not None:
            return ["give generation_batch_size or steps_per_generation, not both"]
        return []

    def _extra_faults(self) -> list[str]:
        written = {name: f"write it as grpo.{name}" for name in type(self).model_fields if name != "extra"}
        written |= {name: f"write it as rollouts.{name}" for name in RolloutSpec.model_fields if "vllm" in name}
        written |= dict.fromkeys(DERIVED, _ENGINE) | {"vllm_importance_sampling_cap": _CLIP}
        written |= {name: "grpo-ops sets it itself" for name in OWNED if name not in written}
        return [f"extra.{name}: remove it; {written[name]}" for name in self.extra if name in written]


class LoraSettings(Spec):
    """Settings of peft.LoraConfig under its own names."""

    r: int = Field(8, gt=0)
    """Rank of the update."""
    lora_alpha: int = Field(8, gt=0)
    """Scale: the update is multiplied by lora_alpha / r."""
    lora_dropout: float = Field(0.0, ge=0, lt=1)
    target_modules: str | tuple[str, ...] | None = None
    """Names of the layers that are adapted, or "all-linear"; PEFT's default goes by the architecture."""
    bias: Literal["none", "all", "lora_only"] = "none"
    use_rslora: bool = False
    use_dora: bool = False

    def peft_fields(self) -> dict[str, Any]:
        """Keyword arguments of peft.LoraConfig, which takes layers as a list."""
        fields = self.model_dump()
        if isinstance(fields["target_modules"], tuple):
            fields["target_modules"] = list(fields["target_modules"])
        return fields

    @field_validator("target_modules")
    @classmethod
    def _names_layers(cls, value: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
        if value is not None and (not value or ("" in value and not isinstance(value, str))):
            raise ValueError(f'{value!r} names no layer; name some, write "all-linear", or leave it out')
        return value
