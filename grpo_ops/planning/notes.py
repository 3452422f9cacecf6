"""What the numbers of a plan leave open: a sentence each, the most important first."""

from collections.abc import Iterator

from grpo_ops.planning.timing import Efficiency
from grpo_ops.planning.types import RunPlan
from grpo_ops.specs import RunSpec, SweepSpec

#: Settings that a sweep may vary and that change what a run costs, besides all of `lora` and `model`.
_COSTLY = frozenset(
    {
        *("max_steps", "per_device_train_batch_size", "gradient_accumulation_steps", "steps_per_generation"),
        *("generation_batch_size", "num_generations", "num_iterations", "max_completion_length", "beta"),
        *("gradient_checkpointing", "optim", "bf16", "fp16"),
    }
)


def notes_on(plan: RunPlan, spec: RunSpec | SweepSpec, run: RunSpec, efficiency: Efficiency) -> tuple[str, ...]:
    """The notes on `plan`, whose run is `run` of `spec`."""
    notes = [*_unknown(plan), *_memory(plan, run), *_precision(plan, run), *_steps(plan, run)]
    notes += [_estimate(efficiency), *_length(plan, run)]
    if isinstance(spec, SweepSpec):
        notes += _varied(spec)
    return tuple(notes)


def _unknown(plan: RunPlan) -> Iterator[str]:
    if not plan.model.is_known:
        yield (
            f"the formulas do not know {plan.model.model_type!r}: parameters are exact, FLOPs are 2 a weight and "
            "token, and memory lacks activations and the KV cache"
        )


def _memory(plan: RunPlan, run: RunSpec) -> Iterator[str]:
    if not plan.fits:
        lower = "per_device_train_batch_size or max_completion_length, train a LoRA adapter, or take a larger GPU"
        yield f"the peak is above the memory of one {plan.gpu.name}: lower {lower}"
    if run.launch.accelerate_config is not None:
        yield "launch.accelerate_config may divide the model over the GPUs (FSDP, DeepSpeed); the memory is for a whole"


def _precision(plan: RunPlan, run: RunSpec) -> Iterator[str]:
    if plan.gpu.name == "T4" and not run.grpo.fp16:
        yield "a T4 has no bfloat16: set grpo.fp16 = true and grpo.bf16 = false"


def _steps(plan: RunPlan, run: RunSpec) -> Iterator[str]:
    if run.grpo.num_iterations > 1:
        yield (
            f"num_iterations = {run.grpo.num_iterations}: each completion is trained on so many times, so a step "
            f"brings {plan.schedule.generated_per_step:g} new completions, and an epoch takes as many times the steps"
        )


def _estimate(efficiency: Efficiency) -> str:
    return (
        f"hours are an estimate: passes at {efficiency.training:.0%} of the peak FLOP/s, decoding at "
        f"{efficiency.decoding:.0%} of the memory bandwidth (both assumed); rewards, data, checkpoints and the "
        "exchange of gradients take no time in it"
    )


def _length(plan: RunPlan, run: RunSpec) -> Iterator[str]:
    if plan.tokens.completion == run.grpo.max_completion_length:
        yield "every completion is taken to be max_completion_length long; shorter ones cost less (--tokens)"


def _varied(spec: SweepSpec) -> Iterator[str]:
    paths = [path for path in spec.space if path.startswith(("lora", "model.")) or path.split(".")[-1] in _COSTLY]
    if paths:
        yield f"the space varies {', '.join(paths)}, which changes the cost; the plan is for the run as written"
