"""What vLLM takes of each GPU, estimated by the formulas of planning, and whether it is there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from grpo_ops.gpus import VisibleGpu
from grpo_ops.planning import architecture_of
from grpo_ops.planning.memory import WIDTHS, Batch, Memory, kv_cache_bytes, memory_of
from grpo_ops.specs import RunSpec

_GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Demand:
    """Bytes on each GPU of vLLM. weights: of the model. sequence: KV cache of the longest sequence, of `length` tokens.

    generation: KV cache of all completions that a copy of the model writes for one generation, without their prompts.
    trained: what the trainer holds there beside vLLM, activations left out; 0 where it has GPUs of its own.
    """

    weights: float
    sequence: float
    length: int
    generation: float
    trained: float = 0.0


def demand_of(spec: RunSpec, config: Any) -> Demand:
    """The memory of vLLM's model and cache, by the formulas of planning; for a colocated one that of training, too."""
    rollouts, grpo = spec.rollouts, spec.grpo
    model = architecture_of(config, spec.lora, trust_remote_code=spec.model.trust_remote_code)
    dtype = spec.model.dtype if spec.model.dtype != "auto" else model.dtype
    width, parts = WIDTHS.get(dtype, 2), rollouts.vllm_tensor_parallel_size
    length = rollouts.vllm_max_model_length or config.get_text_config().max_position_embeddings
    sequences = -(-grpo.completions_per_generation(spec.launch.processes) // _copies(spec))
    trainer = memory_of(model, grpo, Batch(0, 0, 0, 0, width), dtype if dtype in WIDTHS else "bfloat16")
    return Demand(
        weights=model.parameters * width / parts,
        sequence=kv_cache_bytes(model, length, width) / parts,
        length=length,
        generation=sequences * kv_cache_bytes(model, grpo.max_completion_length, width) / parts,
        trained=_beside_vllm(spec, trainer),
    )


def memory_faults(spec: RunSpec, gpus: Sequence[VisibleGpu], demand: Demand) -> Iterator[str]:
    share, smallest = spec.rollouts.vllm_gpu_memory_utilization, min(gpus, key=lambda gpu: gpu.memory)
    needed, given = demand.weights + demand.sequence, smallest.memory * share
    if needed > given:
        yield (
            f"rollouts.vllm_gpu_memory_utilization: {share:g} of GPU {smallest.name} is {_gib(given)}, but vLLM needs "
            f"about {_gib(needed)}: weights {_gib(demand.weights)}, KV cache of one sequence of {demand.length} tokens "
            f"{_gib(demand.sequence)}; raise it, lower vllm_max_model_length, or raise vllm_tensor_parallel_size"
        )
    elif demand.trained + given > smallest.memory:
        yield (
            f"rollouts.vllm_gpu_memory_utilization: {share:g} of GPU {smallest.name} is {_gib(given)}, which beside "
            f"the {_gib(demand.trained)} that training keeps there is more than its {_gib(smallest.memory)}; lower it, "
            'or use rollouts.engine = "vllm-server"'
        )


def shown(demand: Demand, share: float) -> str:
    return (
        f"rollouts: vLLM may take {_gib(share)} of each GPU (estimates follow): weights {_gib(demand.weights)}, KV "
        f"cache {_gib(demand.sequence)} for one sequence of {demand.length} tokens, {_gib(demand.generation)} for all "
        "completions of a generation at once; what does not fit waits"
    )


def _beside_vllm(spec: RunSpec, trainer: Memory) -> float:
    """Without sleep mode vLLM keeps its memory while there are gradients; when it generates there are none."""
    if spec.rollouts.engine == "vllm-server":
        return 0.0
    gradients = 0.0 if spec.rollouts.vllm_enable_sleep_mode else trainer.gradients
    return trainer.weights + trainer.reference + trainer.optimizer + gradients


def _copies(spec: RunSpec) -> int:
    """How many copies of the model write completions at the same time."""
    if spec.rollouts.engine == "vllm-server":
        return 1
    return max(1, spec.launch.processes // spec.rollouts.vllm_tensor_parallel_size)


def _gib(size: float) -> str:
    return f"{size / _GIB:.3g} GiB"
