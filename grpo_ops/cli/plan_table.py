"""A plan as a table: a part of it in each block, its notes below."""

from collections.abc import Iterator

from rich.table import Table

from grpo_ops.cli.printing import print_table, say, standard_output
from grpo_ops.planning import RunPlan
from grpo_ops.planning.savings import Savings

Row = tuple[str, str, str]
_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def print_plan(plan: RunPlan) -> None:
    """The table of `plan` and its notes."""
    console = standard_output()
    server = f" and {plan.server_gpus} for vLLM's server" if plan.server_gpus else ""
    devices = f"{plan.gpus} x {plan.gpu.name}{server} at ${plan.gpu.price:g} an hour each"
    say(console, f"{plan.name}: {plan.model_id} ({plan.model.model_type}) on {devices}")
    print_table(console, plan_table(plan))
    say(console, *(f"note: {note}" for note in plan.notes))


def plan_table(plan: RunPlan) -> Table:
    """What, how much, and what that is made of."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for block in (_model, _memory, _step, _run):
        for row in block(plan):
            table.add_row(*row)
        table.add_section()
    if plan.savings is not None:
        for row in _sweep(plan, plan.savings):
            table.add_row(*row)
    return table


def _model(plan: RunPlan) -> Iterator[Row]:
    model = plan.model
    is_sparse = model.active + model.vocab_size * model.hidden_size < 0.9 * model.parameters
    active = f", of which a token passes {short(model.active)}" if is_sparse else ""
    yield "parameters", short(model.parameters), f"{model.parameters:,} in {plan.dtype}{active}"
    how = f"a LoRA adapter of {model.adapter:,} weights" if model.adapter else "all weights"
    yield "trainable", short(model.trainable), f"{model.trainable:,}, {model.trainable / model.parameters:.2%}: {how}"


def _memory(plan: RunPlan) -> Iterator[Row]:
    memory = plan.memory
    yield "weights", size(memory.weights + memory.reference), "with the reference model" if memory.reference else ""
    yield "gradients", size(memory.gradients), ""
    yield "optimizer", size(memory.optimizer), ""
    if memory.vllm:
        yield "vLLM", size(memory.vllm), "the share that it is given"
    if plan.model.is_known:
        yield "activations", size(memory.activations), "of one micro step"
        yield "KV cache", size(memory.kv_cache), "of one generation, at the longest prompt and completion"
    yield "logits", size(max(memory.logits, memory.decode_logits)), "of the loss, or of a token of each completion"
    verdict = "fits" if plan.fits else "DOES NOT FIT"
    yield "peak memory", size(memory.peak), f"of {size(plan.gpu.memory)} on one {plan.gpu.name}: {verdict}"


def _step(plan: RunPlan) -> Iterator[Row]:
    schedule, tokens, flops, seconds = plan.schedule, plan.tokens, plan.flops, plan.seconds
    new = f"{schedule.generated_per_step:g} of them new, of {schedule.prompts_per_step:g} prompts"
    yield "completions a step", f"{schedule.completions_per_step:,}", new
    lengths = f"{tokens.mean:.0f} a prompt (longest {tokens.longest}, padded to {tokens.padded:.0f})"
    yield "tokens a step", short(plan.tokens_per_step), f"{lengths}, {tokens.completion:g} a completion"
    yield "FLOPs a step", short(flops.total), _shares(flops.generation, flops.scoring, flops.training)
    yield "seconds a step", f"{seconds.total:.3g}", _shares(seconds.generation, seconds.scoring, seconds.training)


def _run(plan: RunPlan) -> Iterator[Row]:
    schedule = plan.schedule
    yield "steps", f"{schedule.max_steps:,}", f"{schedule.epochs:.3g} epochs of {schedule.steps_per_epoch:,} steps"
    yield "prompts", f"{schedule.prompts_seen:,.0f}", f"drawn from {schedule.prompts:,}"
    yield "completions", f"{schedule.completions:,.0f}", "generated in the whole run"
    evaluation = plan.evaluation / 3600 / plan.hours
    yield "hours", f"{plan.hours:.3g}", f"mostly {plan.seconds.dominant}; {evaluation:.0%} of it for evaluation"
    yield "price", f"${plan.money:.2f}", f"{plan.gpu_hours:.3g} GPU-hours"


def _sweep(plan: RunPlan, savings: Savings) -> Iterator[Row]:
    hours, money = savings.trials * plan.hours, savings.trials * plan.money
    yield "sweep, unpruned", f"${money:.2f}", f"{savings.trials} trials, {hours:.3g} trial-hours"
    if savings.share is None:
        yield "pruner saves", "?", savings.basis
        return
    yield "pruner saves", f"{savings.share:.0%}", f"of the steps: {savings.basis}; yours may save more or less"
    kept = 1 - savings.share
    yield "sweep, expected", f"${kept * money:.2f}", f"{kept * hours:.3g} trial-hours, {savings.parallel} at a time"


def short(number: float) -> str:
    """`number` with three digits and a unit, such as 494M."""
    for unit, letter in _UNITS:
        if number >= unit:
            return f"{number / unit:,.3g}{letter}" if number < 1e15 else f"{number:.3g}"
    return f"{number:,.3g}"


def size(number: float) -> str:
    """Bytes as GiB, or MiB where they are few."""
    return f"{number / 1024**3:.1f} GiB" if number >= 1024**3 else f"{number / 1024**2:.1f} MiB"


def _shares(generation: float, scoring: float, training: float) -> str:
    total = generation + scoring + training
    parts = {"generation": generation, "scoring": scoring, "training": training}
    return ", ".join(f"{name} {part / total:.0%}" for name, part in parts.items() if part)
