"""Several tasks mixed by weight: each part has its share of the training prompts and of those held out."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grpo_ops.errors import TaskError
from grpo_ops.specs import TaskPart, TaskSpec
from grpo_ops.tasks.divide import Wanted, load_data
from grpo_ops.tasks.lengths import Room
from grpo_ops.tasks.rows import same_columns, same_kind
from grpo_ops.tasks.types import Row, Task, prompt_text

#: The column with the label of a row's part; a generated row has it in its `metadata` as well, for the scorer.
PART = "part"


@dataclass(frozen=True, slots=True)
class PartScore:
    """The scorer of a mixture: that of the part which a row is from; None for rows whose part has no scorer."""

    scorers: Mapping[str, Callable[[str, dict[str, Any]], float | None]]

    def __call__(self, answer: str, entry: dict[str, Any]) -> float | None:
        metadata = entry.get("metadata")
        scorer = self.scorers.get(metadata.get(PART, "")) if isinstance(metadata, Mapping) else None
        return None if scorer is None else scorer(answer, entry)


def load_mixture(spec: TaskSpec, prompts: int, room: Room | None = None) -> Task:
    """At most `spec.train_size` training prompts and `prompts` to hold out, in the shares of the parts' weights.

    A part with too few training prompts makes the whole smaller: the shares are kept. No held-out prompt of any part is
    a training prompt of any other. Raises TaskError as load_task does, with the part's label.
    """
    tasks = [_loaded(part, number, spec, prompts, room) for number, part in enumerate(spec.parts)]
    kinds = same_kind([row for task in tasks for row in (*task.eval, *task.train)])
    kept = iter(same_columns(kinds))
    parts = [([next(kept) for _ in task.eval], [next(kept) for _ in task.train]) for task in tasks]
    held_out = _first_of_each([row for held, _ in parts for row in held], set())
    taken = {prompt_text(row.prompt) for row in held_out}
    pools = [_first_of_each(train, taken) for _, train in parts]
    counts = _counts(spec, [len(pool) for pool in pools])
    train = [row for pool, count in zip(pools, counts, strict=True) for row in pool[:count]]
    scorers = {part.called: task.score for part, task in zip(spec.parts, tasks, strict=True) if task.score}
    return Task(
        tuple(train if spec.order == "as_given" else _shuffled(train, spec.seed)),
        tuple(_shuffled(held_out, spec.seed)),
        PartScore(scorers) if scorers else None,
    )


def shares(total: int, weights: Sequence[float]) -> list[int]:
    """Whole numbers in proportion to `weights` that sum to `total` (largest remainders): 10 by 2, 1, 1 is 5, 3, 2."""
    exact = [total * weight / sum(weights) for weight in weights]
    counts = [int(value) for value in exact]
    by_remainder = sorted(range(len(weights)), key=lambda index: (counts[index] - exact[index], index))
    for index in by_remainder[: total - sum(counts)]:
        counts[index] += 1
    return counts


def _loaded(part: TaskPart, number: int, spec: TaskSpec, prompts: int, room: Room | None) -> Task:
    """A part as a task of its own; its rows know its label."""
    weights = [one.weight for one in spec.parts]
    train, held_out = shares(spec.train_size, weights)[number], shares(prompts, weights)[number]
    where = f"parts.{number} ({part.called})"
    for count, name, total in ((train, "train_size", spec.train_size), (held_out, "evaluation.prompts", prompts)):
        if count == 0:
            raise TaskError(f"{where}: its weight {part.weight:g} gives it none of {name} = {total}; raise either")
    data = part if part.system_prompt is not None else part.model_copy(update={"system_prompt": spec.system_prompt})
    try:
        task = load_data(data, Wanted(train, held_out, spec.seed, spec.order == "as_given"), room)
    except TaskError as error:
        raise TaskError(f"{where}: {error}") from error
    return Task(_labelled(task.train, part, task), _labelled(task.eval, part, task), task.score)


def _labelled(rows: Sequence[Row], part: TaskPart, task: Task) -> tuple[Row, ...]:
    return tuple(replace(row, columns=_columns(row.columns, part.called, task.score is not None)) for row in rows)


def _columns(columns: Mapping[str, Any], label: str, is_scored: bool) -> dict[str, Any]:
    known = {"metadata": {**columns["metadata"], PART: label}} if is_scored else {}
    return {**columns, **known, PART: label}


def _first_of_each(rows: Sequence[Row], taken: set[str]) -> list[Row]:
    """The first row of each prompt text that is not `taken`; what is found counts as taken from then on."""
    found: dict[str, Row] = {}
    for row in rows:
        if (text := prompt_text(row.prompt)) not in taken:
            found.setdefault(text, row)
    taken.update(found)
    return list(found.values())


def _counts(spec: TaskSpec, available: Sequence[int]) -> list[int]:
    """Rows to take of each part: the largest mixture up to train_size that has its shares."""
    weights = [part.weight for part in spec.parts]
    for total in range(spec.train_size, 0, -1):
        counts = shares(total, weights)
        if all(count <= most for count, most in zip(counts, available, strict=True)):
            return counts
    raise TaskError(f"the parts have {', '.join(map(str, available))} training prompts: too few to mix; bring more")


def _shuffled(rows: list[Row], seed: int) -> list[Row]:
    return random.Random(seed).sample(rows, len(rows))
