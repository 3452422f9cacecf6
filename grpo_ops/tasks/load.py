"""load_task: training and held-out prompts, seeded, unique, disjoint by their text."""

import random
from collections.abc import Iterable, Mapping
from typing import Any

from grpo_ops.errors import TaskError
from grpo_ops.specs import EvaluationSpec, TaskSpec
from grpo_ops.tasks.presets import starter_task
from grpo_ops.tasks.sources import OVERSAMPLING, file_rows, hub_rows, procedural, procedural_rows
from grpo_ops.tasks.types import Row, Task, prompt_text


def load_task(spec: TaskSpec, evaluation: EvaluationSpec) -> Task:
    """The prompts that `spec` names, divided by its seed: the same spec gives the same two sets everywhere.

    Raises TaskError where data are missing, too few, or where a file of evaluation prompts overlaps the training file.
    """
    if spec.source in ("jsonl", "parquet"):
        assert spec.path is not None
        held_out = None if spec.eval_path is None else file_rows(spec.eval_path, spec)
        return _from_tables(file_rows(spec.path, spec), held_out, spec, evaluation)
    if spec.source == "hub":
        held_out = None if spec.eval_split is None else hub_rows(spec.eval_split, spec)
        return _from_tables(hub_rows(spec.split, spec), held_out, spec, evaluation)
    return _from_generator(spec, evaluation)


def _from_generator(spec: TaskSpec, evaluation: EvaluationSpec) -> Task:
    assert spec.name is not None
    name, config = _dataset_of(spec)
    needed = spec.train_size + evaluation.prompts
    dataset = procedural(name, config, needed * OVERSAMPLING, spec.seed)
    rows = _unique(procedural_rows(dataset, spec), needed)
    if len(rows) < needed:
        raise TaskError(
            f"{name!r} gave {len(rows)} different prompts, but train_size = {spec.train_size} and "
            f"evaluation.prompts = {evaluation.prompts} need {needed}; ask for fewer or widen its config"
        )
    # Held out first: evaluations stay comparable between runs that train on more or fewer prompts.
    held_out, train = rows[: evaluation.prompts], rows[evaluation.prompts :]
    return Task(tuple(train), tuple(held_out), dataset.score_answer)


def _dataset_of(spec: TaskSpec) -> tuple[str, Mapping[str, Any]]:
    assert spec.name is not None
    if spec.source == "reasoning_gym":
        return spec.name, spec.config
    preset = starter_task(spec.name)
    return preset.dataset, {**preset.config, **spec.config}


def _from_tables(train: list[Row], held_out: list[Row] | None, spec: TaskSpec, evaluation: EvaluationSpec) -> Task:
    rows = _shuffled(_unique(train), spec.seed)
    if held_out is None:
        held_out, rows = rows[: evaluation.prompts], rows[evaluation.prompts :]
    else:
        held_out = _shuffled(_unique(held_out), spec.seed)[: evaluation.prompts]
        _refuse_overlap(rows, held_out)
    if len(held_out) < evaluation.prompts or not rows:
        raise TaskError(
            f"evaluation.prompts = {evaluation.prompts} but there are {len(held_out)} different prompts to hold out "
            f"and {len(rows)} left to train on; ask for fewer or bring more data"
        )
    return Task(tuple(rows[: spec.train_size]), tuple(held_out))


def _refuse_overlap(train: list[Row], held_out: list[Row]) -> None:
    known = {prompt_text(row.prompt) for row in train}
    shared = [text for row in held_out if (text := prompt_text(row.prompt)) in known]
    if shared:
        raise TaskError(
            f"{len(shared)} of the {len(held_out)} evaluation prompts are training prompts as well, "
            f"for example {shared[0][:120]!r}; an evaluation needs prompts of its own"
        )


def _unique(rows: Iterable[Row], enough: int | None = None) -> list[Row]:
    """The first row of each prompt text, in order; no more than `enough`."""
    found: dict[str, Row] = {}
    for row in rows:
        found.setdefault(prompt_text(row.prompt), row)
        if len(found) == enough:
            break
    return list(found.values())


def _shuffled(rows: list[Row], seed: int) -> list[Row]:
    return random.Random(seed).sample(rows, len(rows))
