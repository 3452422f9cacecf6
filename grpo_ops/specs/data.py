"""TaskSpec: where prompts come from, alone or mixed, which of them are used, and in which order."""

from collections import Counter
from pathlib import PurePath
from typing import Any, Literal

from pydantic import Field, model_validator

from grpo_ops.specs.base import Spec


class DataSpec(Spec):
    """One source of prompts and the columns that are read from it."""

    source: Literal["starter", "reasoning_gym", "jsonl", "parquet", "hub", "mixture"]
    """`starter` is the reasoning-gym task that a starter model knows; `mixture` draws from `parts`; the rest name their
    data by `name` or `path`."""
    name: str | None = None
    """Starter task, reasoning-gym dataset, or dataset on the hub."""
    config: dict[str, Any] = Field(default_factory=dict)
    """reasoning-gym's configuration of the dataset; for the hub, `{name = "main"}` names the subset."""
    path: str | None = None
    """JSONL or Parquet file with the training prompts; `starter:gsm` is the JSONL file that comes with grpo-ops."""
    eval_path: str | None = None
    """File with the evaluation prompts; without it they are drawn from `path` and left out of training."""
    split: str = "train"
    """Split on the hub that holds the training prompts."""
    eval_split: str | None = None
    """Split on the hub that holds the evaluation prompts; without it they are drawn from `split`."""
    prompt_column: str = "prompt"
    """Column with the prompt: text, or a list of messages `{"role", "content"}`."""
    answer_column: str = "answer"
    """Column with the right answer; reward functions get it as `answer`, and every other column by its name."""
    answer_format: Literal["plain", "gsm8k"] = "plain"
    """`gsm8k`: the answer is what follows `####`, without commas; what is before it becomes the column `solution`."""
    system_prompt: str | None = None
    """Sent before each prompt; messages that have a system message of their own keep that one."""

    @model_validator(mode="after")
    def _has_its_data(self) -> "DataSpec":
        needed = "path" if self.source in ("jsonl", "parquet") else "name"
        if self.source != "mixture" and getattr(self, needed) is None:
            raise ValueError(f"{needed}: source = {self.source!r} needs a {needed}")
        if self.eval_path is not None and self.eval_path == self.path:
            raise ValueError(f"eval_path: {self.eval_path!r} is the training file; evaluation prompts must be others")
        if self.eval_split is not None and self.eval_split == self.split:
            raise ValueError(
                f"eval_split: {self.eval_split!r} is the training split; evaluation prompts must be others"
            )
        return self


class TaskPart(DataSpec):
    """One part of a mixture."""

    source: Literal["starter", "reasoning_gym", "jsonl", "parquet", "hub"]
    weight: float = Field(1.0, gt=0)
    """Share of the prompts, for training and for evaluation, relative to the other parts' weights."""
    label: str | None = Field(None, min_length=1)
    """Names the part in the column `part`; by default its `name`, or its file's name without the ending."""

    @property
    def called(self) -> str:
        return self.label or self.name or PurePath(str(self.path)).stem


class TaskSpec(DataSpec):
    """Prompts for training and for evaluation: disjoint, seeded."""

    parts: tuple[TaskPart, ...] = ()
    """The parts of a mixture; those without a `system_prompt` take the mixture's."""
    train_size: int = Field(1024, gt=0)
    """Training prompts (at most, for files, the hub and mixtures: the smallest part holds a mixture to its shares)."""
    seed: int = 0
    """Seeds the prompts and the division into training and evaluation."""
    order: Literal["shuffled", "as_given"] = "shuffled"
    """`as_given` trains on the prompts in their file's order (a mixture: part after part), and again from its start."""
    curriculum_column: str | None = None
    """Column of numbers by which the training prompts are sorted, lowest first; `a.b` is the value b in column a."""
    too_long: Literal["refuse", "filter"] = "refuse"
    """What becomes of prompts that leave no room for a completion in the model's window: the run is refused, or they
    are left out of training and evaluation, and counted."""

    @property
    def sources(self) -> frozenset[str]:
        """The sources of the task, or of all its parts."""
        return frozenset(part.source for part in self.parts) if self.parts else frozenset({self.source})

    @property
    def in_order(self) -> bool:
        """Whether the order of the training prompts is a choice, which nothing may shuffle."""
        return self.order == "as_given" or self.curriculum_column is not None

    @model_validator(mode="after")
    def _mixes_parts(self) -> "TaskSpec":
        if self.source != "mixture":
            faults = ["parts: only a mixture has parts; write source = 'mixture'"] if self.parts else []
        else:
            faults = [*self._misplaced(), *self._part_faults()]
        if faults:
            raise ValueError("\n".join(faults))
        return self

    def _misplaced(self) -> list[str]:
        return [
            f"{name}: a mixture's data are named by its parts; move it into one of them"
            for name, field in DataSpec.model_fields.items()
            if name not in ("source", "system_prompt")
            and getattr(self, name) != field.get_default(call_default_factory=True)
        ]

    def _part_faults(self) -> list[str]:
        if len(self.parts) < 2:
            return [f"parts: a mixture needs two parts or more but has {len(self.parts)}"]
        counts = Counter(part.called for part in self.parts)
        return [
            f"parts: {count} parts are called {name!r}; give each its own label"
            for name, count in counts.items()
            if count > 1
        ]
