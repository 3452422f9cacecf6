"""What one optimiser step takes and gives, in completions, prompts and epochs: TRL's own arithmetic."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from grpo_ops.errors import PlanError
from grpo_ops.specs import RunSpec


@dataclass(frozen=True, slots=True)
class Schedule:
    """Counts over all GPUs. An optimiser step is what `max_steps` counts.

    per_device_train_batch_size counts completions: a step trains on `completions_per_step`, of which
    `generated_per_step` are new; num_iterations divides what is new, and multiplies the steps of an epoch.
    scoring_passes: forward passes over each new completion beside the training (old policy, reference model).
    """

    max_steps: int
    prompts: int
    completions_per_step: int
    generated_per_step: float
    prompts_per_step: float
    completions_per_generation: int
    prompts_per_generation: int
    steps_per_epoch: int
    scoring_passes: int
    evaluations: int

    @property
    def epochs(self) -> float:
        """Passes over the training prompts in the whole run."""
        return self.max_steps / self.steps_per_epoch

    @property
    def prompts_seen(self) -> float:
        """Prompts drawn in the whole run, those of later epochs again."""
        return self.max_steps * self.prompts_per_step

    @property
    def completions(self) -> float:
        """Completions generated in the whole run."""
        return self.max_steps * self.generated_per_step


def schedule_of(spec: RunSpec, prompts: int) -> Schedule:
    """The schedule of `spec` over `prompts` training prompts on `launch.processes` GPUs.

    As trl.GRPOTrainer's RepeatSampler and transformers' Trainer count (trl 1.16, transformers 5.24). Raises PlanError
    where the prompts do not fill one generation: TRL would have nothing to train on.
    """
    grpo, processes = spec.grpo, spec.launch.processes
    micro = grpo.per_device_train_batch_size * processes
    generated = grpo.completions_per_generation(processes)
    group = generated // grpo.num_generations
    if prompts < group:
        raise PlanError(
            f"task: one generation takes {group} different prompts ({generated} completions, {grpo.num_generations} "
            f"each), but there are {prompts} to train on; raise task.train_size or lower the batch"
        )
    trained = micro * grpo.gradient_accumulation_steps
    micro_steps = (prompts // group) * grpo.num_iterations * (generated // micro)
    new = trained / grpo.num_iterations
    return Schedule(
        max_steps=grpo.max_steps,
        prompts=prompts,
        completions_per_step=trained,
        generated_per_step=new,
        prompts_per_step=new / grpo.num_generations,
        completions_per_generation=generated,
        prompts_per_generation=group,
        steps_per_epoch=math.ceil(micro_steps / grpo.gradient_accumulation_steps),
        scoring_passes=_scoring_passes(spec, generated // micro),
        evaluations=1 + math.ceil(grpo.max_steps / spec.evaluation.every),
    )


def expected_longest(lengths: Sequence[int], draws: int) -> float:
    """The mean of the longest of `draws` prompts drawn from `lengths`: what a padded batch of them is as long as.

    With the N lengths in order, the sum of length_i ((i / N)^draws - ((i - 1) / N)^draws).
    """
    count = len(lengths)
    return sum(
        length * ((index / count) ** draws - ((index - 1) / count) ** draws)
        for index, length in enumerate(sorted(lengths), start=1)
    )


def _scoring_passes(spec: RunSpec, steps_per_generation: int) -> int:
    """As TRL's _generate_and_score_completions: the old policy where a step may meet older samples, or with vLLM."""
    grpo = spec.grpo
    corrects = spec.rollouts.uses_vllm and spec.rollouts.vllm_importance_sampling_correction
    is_off_policy = grpo.gradient_accumulation_steps % (steps_per_generation * grpo.num_iterations) != 0
    return int(corrects or is_off_policy) + int(grpo.beta != 0)
