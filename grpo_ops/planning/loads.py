"""What a run puts on one GPU: its precision, the lengths of its sequences, and how many it holds at once."""

from collections.abc import Sequence

from grpo_ops.errors import PlanError
from grpo_ops.planning.architecture import Architecture
from grpo_ops.planning.hardware import Gpu
from grpo_ops.planning.memory import WIDTHS, Batch
from grpo_ops.planning.schedule import Schedule, expected_longest
from grpo_ops.planning.timing import Load
from grpo_ops.planning.types import Tokens
from grpo_ops.specs import GRPOSettings, RunSpec
from grpo_ops.specs.rollouts import RolloutSpec


def tokens_of(run: RunSpec, lengths: Sequence[int], schedule: Schedule, completion: float | None) -> Tokens:
    """Lengths of sequences; `completion` replaces max_completion_length. Raises PlanError where it is out of range.

    TRL pads the prompts of one generation on one GPU to the longest of them.
    """
    most = run.grpo.max_completion_length
    if completion is not None and not 1 <= completion <= most:
        raise PlanError(
            f"--tokens is a completion's mean length, 1 to grpo.max_completion_length = {most}, but got {completion:g}"
        )
    together = max(1, schedule.prompts_per_generation // run.launch.processes)
    padded = expected_longest(lengths, together)
    return Tokens(sum(lengths) / len(lengths), max(lengths), padded, most if completion is None else completion)


def dtype_of(run: RunSpec, model: Architecture, gpu: Gpu) -> str:
    """Precision of the weights as the trainer loads them: `auto` is the config's own on a GPU, float32 on a CPU."""
    if run.model.dtype != "auto":
        return run.model.dtype
    return model.dtype if model.dtype in WIDTHS and not gpu.is_cpu else "float32"


def load_of(run: RunSpec, model: Architecture, gpu: Gpu, tokens: Tokens, schedule: Schedule) -> Load:
    """What the timing goes by. A vLLM server of the run generates on its own GPUs, each with its share."""
    width = WIDTHS[dtype_of(run, model, gpu)]
    return Load(
        prompt=tokens.padded,
        completion=tokens.completion,
        generated=schedule.completions_per_generation / (run.rollouts.own_devices or run.launch.processes),
        width=width,
        peak=gpu.flops if width == 2 or is_mixed(run.grpo, gpu) else gpu.flops_float32,
        uses_vllm=run.rollouts.uses_vllm,
        checkpointing=run.grpo.gradient_checkpointing,
    )


def batch_of(run: RunSpec, model: Architecture, gpu: Gpu, tokens: Tokens, schedule: Schedule) -> Batch:
    """What the memory goes by: the longest prompt and the longest completion that may come."""
    half = is_mixed(run.grpo, gpu) or WIDTHS[dtype_of(run, model, gpu)] == 2
    return Batch(
        trained=run.grpo.per_device_train_batch_size,
        generated=-(-schedule.completions_per_generation // run.launch.processes),
        prompt=tokens.longest,
        completion=run.grpo.max_completion_length,
        compute=2 if half else 4,
        vllm=_vllm_bytes(run.rollouts, gpu),
        sleeps=run.rollouts.vllm_enable_sleep_mode,
    )


def _vllm_bytes(rollouts: RolloutSpec, gpu: Gpu) -> float | None:
    """Bytes of a training GPU that vLLM takes: a share where it is colocated, none for a server's."""
    if not rollouts.uses_vllm:
        return None
    return rollouts.vllm_gpu_memory_utilization * gpu.memory if rollouts.engine == "vllm-colocate" else 0.0


def is_mixed(grpo: GRPOSettings, gpu: Gpu) -> bool:
    """Whether the trainer computes in 16 bits whatever the weights are in: TRL's default on a GPU."""
    return not gpu.is_cpu and (grpo.fp16 or grpo.bf16 is not False)
