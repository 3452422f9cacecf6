"""plan_run(): parameters, memory, FLOPs, steps, hours and money of a spec, from configs and prompts alone."""

from dataclasses import replace
from typing import Any

from grpo_ops.planning.architecture import Architecture
from grpo_ops.planning.hardware import Gpu, gpu_named
from grpo_ops.planning.loads import batch_of, dtype_of, load_of, tokens_of
from grpo_ops.planning.memory import memory_of
from grpo_ops.planning.notes import notes_on
from grpo_ops.planning.reading import read_model
from grpo_ops.planning.savings import savings_of
from grpo_ops.planning.schedule import Schedule, schedule_of
from grpo_ops.planning.timing import Efficiency, Load, generation_seconds, step_flops, step_seconds
from grpo_ops.planning.types import RunPlan, Tokens
from grpo_ops.specs import RunSpec, SweepSpec
from grpo_ops.tasks import load_task, prompt_length

#: Training prompts that are measured; they are in random order.
_MEASURED = 1000


def plan_run(
    spec: RunSpec | SweepSpec,
    gpu: str | None = None,
    *,
    gpus: int | None = None,
    price: float | None = None,
    completion: float | None = None,
    efficiency: Efficiency | None = None,
) -> RunPlan:
    """The plan of a run, or of a sweep's run as its spec writes it.

    gpu: a name in hardware.GPUS; without it a CPU for starter models and an H100 for others. gpus: instead of
    launch.processes. price: of one GPU for an hour. completion: mean tokens of a completion, without it
    max_completion_length. Raises PlanError (the model cannot be had, an option is out of range), TaskError (the data
    cannot be had) and SpecError (the batch does not suit `gpus`).
    """
    run = _on(spec.run if isinstance(spec, SweepSpec) else spec, gpus)
    device = gpu_named(gpu or ("CPU" if run.model.is_starter else "H100"), _price(spec, run, price))
    model, tokenizer = read_model(run.model, run.lora)
    lengths, count = _prompt_lengths(run, tokenizer)
    schedule = schedule_of(run, count)
    tokens = tokens_of(run, lengths, schedule, completion)
    how = efficiency or Efficiency()
    plan = _planned(run, device, model, schedule, tokens, how)
    savings = savings_of(spec) if isinstance(spec, SweepSpec) else None
    return replace(plan, name=spec.name, savings=savings, notes=notes_on(plan, spec, run, how))


def _planned(
    run: RunSpec, gpu: Gpu, model: Architecture, schedule: Schedule, tokens: Tokens, how: Efficiency
) -> RunPlan:
    load, dtype, gpus = load_of(run, model, gpu, tokens, schedule), dtype_of(run, model, gpu), run.launch.processes
    return RunPlan(
        name=run.name,
        model_id=run.model.id,
        model=model,
        dtype=dtype,
        gpu=gpu,
        gpus=gpus,
        server_gpus=run.rollouts.own_devices,
        tokens=tokens,
        schedule=schedule,
        memory=memory_of(model, run.grpo, batch_of(run, model, gpu, tokens, schedule), dtype),
        flops=step_flops(model, schedule, load),
        seconds=step_seconds(model, schedule, load, gpu, gpus, how),
        evaluation=_evaluation_seconds(run, model, load, schedule, gpu, how),
        savings=None,
        notes=(),
    )


def _on(run: RunSpec, gpus: int | None) -> RunSpec:
    """`run` on so many processes: checked again, since the batch must suit them."""
    if gpus is None:
        return run
    data = run.model_dump(mode="json")
    return RunSpec.checked({**data, "launch": {**data["launch"], "processes": gpus}}, "--gpus")


def _price(spec: RunSpec | SweepSpec, run: RunSpec, price: float | None) -> float | None:
    """The price that is given, else what the sweep's budget says a slot costs."""
    if price is not None or isinstance(spec, RunSpec) or spec.budget.price_per_hour is None:
        return price
    return spec.budget.price_per_hour / (run.launch.processes + run.rollouts.own_devices)


def _prompt_lengths(run: RunSpec, tokenizer: Any) -> tuple[list[int], int]:
    """Tokens of up to _MEASURED training prompts, and how many training prompts there are."""
    task = load_task(run.task, run.evaluation)
    return [prompt_length(tokenizer, row.prompt) for row in task.train[:_MEASURED]], len(task.train)


def _evaluation_seconds(
    run: RunSpec, model: Architecture, load: Load, schedule: Schedule, gpu: Gpu, how: Efficiency
) -> float:
    """Seconds of all evaluations: each decodes its prompts with transformers on one GPU while the others wait."""
    whole, rest = divmod(run.evaluation.prompts, run.evaluation.batch_size)
    sizes = [run.evaluation.batch_size] * whole + [rest] * (rest > 0)
    batches = (replace(load, generated=size, uses_vllm=False) for size in sizes)
    return schedule.evaluations * sum(generation_seconds(model, batch, gpu, how)[0] for batch in batches)
