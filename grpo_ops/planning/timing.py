"""Seconds of one optimiser step on a GPU: an estimate, by what the hardware could do and a stated part of it."""

from dataclasses import dataclass

from grpo_ops.planning.architecture import Architecture
from grpo_ops.planning.flops import Sequence, decode_flops, forward_flops, loss_flops, prefill_flops
from grpo_ops.planning.hardware import Gpu
from grpo_ops.planning.memory import kv_cache_bytes
from grpo_ops.planning.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Assumed, not measured on your machine. All are shares of a peak, but the last.

    training: of the peak FLOP/s in forward and backward passes. decoding: of the memory's bandwidth when tokens are
    generated. seconds_per_layer: least time of a layer's pass over one token with transformers' generate, which starts
    its kernels one by one from Python; vLLM does not have it, nor has a CPU.
    """

    training: float = 0.35
    decoding: float = 0.6
    seconds_per_layer: float = 0.8e-3


@dataclass(frozen=True, slots=True)
class Load:
    """Tokens of one sequence, and how the model is held. generated: completions that one GPU generates at once.

    width: bytes a weight. peak: FLOP/s of the GPU at the precision of the run.
    """

    prompt: float
    completion: float
    generated: float
    width: int
    peak: float
    uses_vllm: bool
    checkpointing: bool


@dataclass(frozen=True, slots=True)
class StepFlops:
    """FLOPs of one optimiser step, over all GPUs."""

    generation: float
    scoring: float
    training: float

    @property
    def total(self) -> float:
        return self.generation + self.scoring + self.training


@dataclass(frozen=True, slots=True)
class StepSeconds:
    """Seconds of one optimiser step. decoding_bound: what decoding waits for: memory, compute or launches."""

    generation: float
    scoring: float
    training: float
    decoding_bound: str

    @property
    def total(self) -> float:
        return self.generation + self.scoring + self.training

    @property
    def dominant(self) -> str:
        """The largest part, in words."""
        decoding = f"decoding ({self.decoding_bound})"
        parts = {decoding: self.generation, "scoring (compute)": self.scoring, "training (compute)": self.training}
        return max(parts, key=lambda name: parts[name])


def step_flops(model: Architecture, schedule: Schedule, load: Load) -> StepFlops:
    """FLOPs of a step: new completions are generated and scored, all that are trained on go forward and backward."""
    whole = Sequence(load.prompt + load.completion, load.completion)
    new = schedule.generated_per_step
    generated = prefill_flops(model, load.prompt) + decode_flops(model, load.prompt, load.completion)
    return StepFlops(
        generation=new * generated,
        scoring=new * schedule.scoring_passes * forward_flops(model, whole),
        training=schedule.completions_per_step * loss_flops(model, whole, checkpointing=load.checkpointing),
    )


def step_seconds(
    model: Architecture, schedule: Schedule, load: Load, gpu: Gpu, gpus: int, efficiency: Efficiency
) -> StepSeconds:
    """Seconds of a step; the GPUs share its completions evenly, and their exchange of gradients takes no time here."""
    flops = step_flops(model, schedule, load)
    rate = gpus * load.peak * efficiency.training
    seconds, bound = generation_seconds(model, load, gpu, efficiency)
    generations = schedule.generated_per_step / schedule.completions_per_generation
    return StepSeconds(generations * seconds, flops.scoring / rate, flops.training / rate, bound)


def generation_seconds(model: Architecture, load: Load, gpu: Gpu, efficiency: Efficiency) -> tuple[float, str]:
    """Seconds in which one GPU generates its completions side by side, and what decoding waits for.

    Each token's pass reads all weights and the KV cache of every sequence once; it takes the longest of that, of its
    FLOPs, and of the kernels' launches.
    """
    rate = load.peak * efficiency.training
    steps = max(load.completion - 1, 0)
    cache = load.generated * kv_cache_bytes(model, load.prompt + load.completion / 2, load.width)
    read = model.parameters * load.width + cache
    launches = 0.0 if load.uses_vllm or gpu.is_cpu else len(model.layers) * efficiency.seconds_per_layer
    waits = {
        "memory bandwidth": steps * read / (gpu.bandwidth * efficiency.decoding),
        "compute": load.generated * decode_flops(model, load.prompt, load.completion) / rate,
        "kernel launches": steps * launches,
    }
    bound = max(waits, key=lambda name: waits[name])
    return load.generated * prefill_flops(model, load.prompt) / rate + waits[bound], bound
