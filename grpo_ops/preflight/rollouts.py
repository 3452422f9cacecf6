"""Whether the rollout engine of a run can work on this machine: vLLM, GPUs, the model's heads, weights, memory."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from packaging.version import Version

from grpo_ops.errors import PlanError
from grpo_ops.gpus import divide
from grpo_ops.preflight.machine import Machine
from grpo_ops.preflight.rollout_memory import demand_of, memory_faults, shown
from grpo_ops.specs import ModelSpec, RunSpec, SweepSpec
from grpo_ops.tasks.starter import Recipe
from grpo_ops.tasks.vocabulary import task_tokenizer

#: The vLLM versions that TRL supports (trl/import_utils.py; a test compares).
VLLM_RANGE = ("0.22.0", "0.31.0")
_INSTALL = "pip install 'grpo-ops[vllm]'"
_TRANSFORMERS = 'set rollouts.engine = "transformers"'


def rollout_findings(
    spec: RunSpec, machine: Machine | None = None, *, has_model: bool = True
) -> tuple[list[str], list[str]]:
    """Faults and notes on the engine of `spec`, a sentence each; none for transformers.

    machine: another than this one. has_model: whether the model's config can be read.
    """
    if not spec.rollouts.uses_vllm:
        return [], []
    machine = machine or Machine.here()
    faults = [*_vllm_faults(spec, machine), *_gpu_faults(spec, machine)]
    if not has_model:
        return faults, []
    config = _config(spec.model)
    faults += [*_head_faults(spec, config), *_quantized_faults(spec, config)]
    if not machine.gpus:
        return faults, []
    try:
        demand = demand_of(spec, config)
    except PlanError as error:
        return [*faults, str(error)], []
    share = min(gpu.memory for gpu in machine.gpus) * spec.rollouts.vllm_gpu_memory_utilization
    return [*faults, *memory_faults(spec, machine.gpus, demand)], [shown(demand, share)]


def server_faults(spec: SweepSpec) -> Iterator[str]:
    """One sentence for each reason why the servers of a sweep's trials would get in each other's way."""
    rollouts, ranks = spec.run.rollouts, spec.run.launch.processes
    if not rollouts.is_served:
        return
    if rollouts.devices and (spec.devices or spec.parallel > 1):
        yield (
            "run.rollouts.devices: every trial's vLLM server would take the same GPUs; leave it out, and each takes "
            "the last GPUs of its own slot"
        )
    if not spec.devices and spec.parallel > 1:
        yield (
            f"devices: {spec.parallel} trials at a time would start their vLLM servers on the same GPUs; name those of "
            f"each slot, {ranks + rollouts.own_devices} a slot"
        )


def _vllm_faults(spec: RunSpec, machine: Machine) -> Iterator[str]:
    oldest, newest = VLLM_RANGE
    if machine.vllm is None:
        yield (
            f"rollouts.engine: {spec.rollouts.engine!r} needs vLLM, which is not installed here: {_INSTALL}, "
            f"or {_TRANSFORMERS}"
        )
    elif not Version(oldest) <= Version(Version(machine.vllm).base_version) <= Version(newest):
        yield f"rollouts.engine: vLLM {machine.vllm} is installed, TRL supports {oldest} to {newest}: {_INSTALL}"


def _gpu_faults(spec: RunSpec, machine: Machine) -> Iterator[str]:
    rollouts = spec.rollouts
    if machine.gpus is None:
        if rollouts.is_served and not rollouts.devices:
            yield "rollouts.devices: this machine's GPUs cannot be counted; name those of the vLLM server"
        return
    names = [gpu.name for gpu in machine.gpus]
    if not names:
        yield (
            f"rollouts.engine: {rollouts.engine!r} needs a GPU, and this machine shows none (nvidia-smi): run it where "
            f"there is one, or {_TRANSFORMERS}"
        )
    elif rollouts.is_served:
        yield from _shared_faults(spec, names)


def _shared_faults(spec: RunSpec, names: Sequence[str]) -> Iterator[str]:
    rollouts, ranks = spec.rollouts, spec.launch.processes
    served, left = divide(names, rollouts.devices, rollouts.vllm_tensor_parallel_size)
    missing = [name for name in served if name not in names]
    if missing:
        yield f"rollouts.devices: {', '.join(missing)} is not among the GPUs that a run here sees: {', '.join(names)}"
    elif len(left) < ranks:
        yield (
            f"rollouts.engine: of the GPUs {', '.join(names)} the vLLM server takes {', '.join(served)}, which leaves "
            f"{len(left)} for launch.processes = {ranks}; show the run "
            f'{len(served) + ranks}, or set rollouts.engine = "vllm-colocate"'
        )


def _head_faults(spec: RunSpec, config: Any) -> Iterator[str]:
    text, parts = config.get_text_config(), spec.rollouts.vllm_tensor_parallel_size
    heads = text.num_attention_heads
    kv_heads = getattr(text, "num_key_value_heads", None) or heads
    if heads % parts:
        valid = ", ".join(str(size) for size in range(1, heads + 1) if heads % size == 0)
        yield (
            f"rollouts.vllm_tensor_parallel_size: {parts} does not divide the {heads} attention heads of "
            f"{spec.model.id!r}; valid here: {valid}"
        )
    elif kv_heads % parts and parts % kv_heads:
        yield (
            f"rollouts.vllm_tensor_parallel_size: {parts} neither divides the {kv_heads} key-value heads of "
            f"{spec.model.id!r} nor is a multiple of them; use {kv_heads} or 1"
        )


def _quantized_faults(spec: RunSpec, config: Any) -> Iterator[str]:
    """Row C16. TRL merges the adapter into the base for each weight transfer and takes it out again."""
    found = getattr(config, "quantization_config", None)
    if found is None:
        return
    said = found if isinstance(found, dict) else found.to_dict()
    name = str(said.get("quant_method", "an unnamed method"))
    if said.get("load_in_8bit"):
        yield f"model.id: {spec.model.id!r} is quantised to 8 bits, which TRL refuses with vLLM; {_TRANSFORMERS}"
    elif not spec.rollouts.allow_quantized:
        yield (
            f"rollouts.allow_quantized: {spec.model.id!r} is quantised ({name}), and merging an adapter into such a "
            f"base for vLLM loses precision at every step; name the unquantised model, {_TRANSFORMERS}, or allow it "
            "with true"
        )


def _config(model: ModelSpec) -> Any:
    if model.is_starter:
        from grpo_ops.tasks.warmup import model_config

        recipe = Recipe.of(model.id)
        return model_config(recipe.parameters, task_tokenizer(recipe.task))
    from transformers import AutoConfig

    place = Path(model.id).expanduser()
    name = str(place.absolute()) if place.is_dir() else model.id
    return AutoConfig.from_pretrained(name, revision=model.revision, trust_remote_code=model.trust_remote_code)
