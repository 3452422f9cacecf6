"""One source's prompts, unique by their text, divided into those to train on and those held out."""

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from grpo_ops.errors import TaskError
from grpo_ops.specs.data import DataSpec
from grpo_ops.tasks.lengths import Room
from grpo_ops.tasks.presets import starter_task
from grpo_ops.tasks.sources import OVERSAMPLING, file_rows, hub_rows, procedural, procedural_rows
from grpo_ops.tasks.types import Row, Task, prompt_text


@dataclass(frozen=True, slots=True)
class Wanted:
    """How many prompts to train on and to hold out, the seed that divides them, and whether order is kept."""

    train: int
    held_out: int
    seed: int
    as_given: bool


def load_data(data: DataSpec, wanted: Wanted, room: Room | None = None) -> Task:
    """The prompts of one source. Raises TaskError as load_task does."""
    if data.source in ("jsonl", "parquet"):
        assert data.path is not None
        held_out = None if data.eval_path is None else file_rows(data.eval_path, data)
        return _from_tables(file_rows(data.path, data), held_out, wanted, room)
    if data.source == "hub":
        held_out = None if data.eval_split is None else hub_rows(data.eval_split, data)
        return _from_tables(hub_rows(data.split, data), held_out, wanted, room)
    return _from_generator(data, wanted, room)


def _from_generator(data: DataSpec, wanted: Wanted, room: Room | None) -> Task:
    name, config = _dataset_of(data)
    needed = wanted.train + wanted.held_out
    dataset = procedural(name, config, needed * OVERSAMPLING, wanted.seed)
    rows = list(islice(_unique(_fitting(procedural_rows(dataset, data), room)), needed))
    if len(rows) < needed:
        raise TaskError(
            f"{name!r} gave {len(rows)} different prompts, but train_size = {wanted.train} and "
            f"evaluation.prompts = {wanted.held_out} need {needed}; ask for fewer or widen its config{_left_out(room)}"
        )
    # Held out first: evaluations stay comparable between runs that train on more or fewer prompts.
    return Task(tuple(rows[wanted.held_out :]), tuple(rows[: wanted.held_out]), dataset.score_answer)


def _dataset_of(data: DataSpec) -> tuple[str, Mapping[str, Any]]:
    assert data.name is not None
    if data.source == "reasoning_gym":
        return data.name, data.config
    preset = starter_task(data.name)
    return preset.dataset, {**preset.config, **data.config}


def _from_tables(given: list[Row], other: list[Row] | None, wanted: Wanted, room: Room | None) -> Task:
    """other: the rows to hold out, where they have a table of their own."""
    rows = list(_unique(given))
    shuffled = _shuffled(rows, wanted.seed)
    pool = shuffled if other is None else _shuffled(list(_unique(other)), wanted.seed)
    held_out = list(islice(_fitting(pool, room), wanted.held_out))
    if other is not None:
        _refuse_overlap(rows, held_out)
    taken = {prompt_text(row.prompt) for row in held_out}
    rest = (row for row in (rows if wanted.as_given else shuffled) if prompt_text(row.prompt) not in taken)
    train = list(islice(_fitting(rest, room), wanted.train))
    if len(held_out) < wanted.held_out or not train:
        raise TaskError(
            f"evaluation.prompts = {wanted.held_out} but there are {len(held_out)} different prompts to hold out "
            f"and {len(train)} left to train on; ask for fewer or bring more data{_left_out(room)}"
        )
    return Task(tuple(train), tuple(held_out))


def _refuse_overlap(train: list[Row], held_out: list[Row]) -> None:
    known = {prompt_text(row.prompt) for row in train}
    shared = [text for row in held_out if (text := prompt_text(row.prompt)) in known]
    if shared:
        raise TaskError(
            f"{len(shared)} of the {len(held_out)} evaluation prompts are training prompts as well, "
            f"for example {shared[0][:120]!r}; an evaluation needs prompts of its own"
        )


def _unique(rows: Iterable[Row]) -> Iterator[Row]:
    """The first row of each prompt text, in order."""
    seen: set[str] = set()
    for row in rows:
        text = prompt_text(row.prompt)
        if text not in seen:
            seen.add(text)
            yield row


def _fitting(rows: Iterable[Row], room: Room | None) -> Iterator[Row]:
    return (row for row in rows if room is None or room.holds(row))


def _left_out(room: Room | None) -> str:
    note = None if room is None else room.note()
    return f" ({note})" if note else ""


def _shuffled(rows: list[Row], seed: int) -> list[Row]:
    return random.Random(seed).sample(rows, len(rows))
