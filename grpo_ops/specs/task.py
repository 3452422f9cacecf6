"""Where prompts come from, what an answer is worth, which model is trained, how it is evaluated."""

import re
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from grpo_ops.specs.base import Spec

STARTER = re.compile(r"^starter:(?P<task>[a-z]+)-(?P<size>xs|s|m|\d+(\.\d+)?m)(@(?P<share>0?\.\d+))?$")


class ModelSpec(Spec):
    """The model that is trained."""

    id: str = Field(min_length=1)
    """A name on the hub, a folder, or `starter:TASK-SIZE[@share]` (for example starter:arith-s@0.3)."""
    revision: str | None = None
    """Branch, tag or commit on the hub."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Precision of the weights; `auto` is float32 without a GPU."""
    trust_remote_code: bool = False
    """Run code that comes with the model. Off unless you know the author."""

    @field_validator("id")
    @classmethod
    def _starter_grammar(cls, value: str) -> str:
        if value.startswith("starter:") and not STARTER.match(value):
            raise ValueError(
                f"{value!r} is no starter model; write starter:TASK-SIZE[@share] with SIZE xs, s, m or millions of "
                "parameters such as 0.4m, and share the part of right answers, such as 0.3"
            )
        return value

    @property
    def is_starter(self) -> bool:
        return self.id.startswith("starter:")


class TaskSpec(Spec):
    """Prompts for training and for evaluation: disjoint, seeded."""

    source: Literal["starter", "reasoning_gym", "jsonl", "parquet", "hub"]
    """`starter` is the reasoning-gym task that a starter model knows; the rest name their data by `name` or `path`."""
    name: str | None = None
    """Starter task, reasoning-gym dataset, or dataset on the hub."""
    config: dict[str, Any] = Field(default_factory=dict)
    """reasoning-gym's configuration of the dataset; for the hub, `{name = "main"}` names the subset."""
    path: str | None = None
    """JSONL or Parquet file with the training prompts."""
    eval_path: str | None = None
    """File with the evaluation prompts; without it they are drawn from `path` and left out of training."""
    split: str = "train"
    """Split on the hub that holds the training prompts."""
    eval_split: str | None = None
    """Split on the hub that holds the evaluation prompts; without it they are drawn from `split`."""
    prompt_column: str = "prompt"
    """Column with the prompt: text, or a list of messages."""
    answer_column: str = "answer"
    """Column with the right answer; reward functions get it as `answer`."""
    system_prompt: str | None = None
    """Sent before each prompt, where the prompt is text."""
    train_size: int = Field(1024, gt=0)
    """Training prompts (at most, for files and the hub)."""
    seed: int = 0
    """Seeds the prompts and the division into training and evaluation."""

    @model_validator(mode="after")
    def _has_its_data(self) -> "TaskSpec":
        needed = "path" if self.source in ("jsonl", "parquet") else "name"
        if getattr(self, needed) is None:
            raise ValueError(f"{needed}: source = {self.source!r} needs a {needed}")
        if self.eval_path is not None and self.eval_path == self.path:
            raise ValueError(f"eval_path: {self.eval_path!r} is the training file; evaluation prompts must be others")
        if self.eval_split is not None and self.eval_split == self.split:
            raise ValueError(
                f"eval_split: {self.eval_split!r} is the training split; evaluation prompts must be others"
            )
        return self


class RewardSpec(Spec):
    """One reward function; the reward that is optimised is the sum over all, by weight."""

    name: str = Field(min_length=1)
    """A registered reward (entry point group grpo_ops.rewards) or, in a local file, `package.module:function`."""
    weight: float = 1.0
    log_name: str | None = Field(None, pattern=r"^[A-Za-z0-9_.-]+$")
    """Name in `rewards/NAME/mean`; by default the function's own name."""
    config: dict[str, Any] = Field(default_factory=dict)
    """Keyword arguments that are passed to the reward function."""

    @property
    def logged_as(self) -> str:
        return self.log_name or self.name.rsplit(":", 1)[-1].rsplit(".", 1)[-1]

    @property
    def is_import_path(self) -> bool:
        return ":" in self.name


class EvaluationSpec(Spec):
    """Held-out evaluation in the trainer process, before step 1 and every so many steps, always decoded alike."""

    every: int = Field(10, gt=0)
    """Steps between evaluations."""
    prompts: int = Field(128, gt=0)
    """Held-out prompts."""
    temperature: float = Field(0.0, ge=0)
    """0 is greedy; above it, sampling with the same seed every time."""
    top_p: float = Field(1.0, gt=0, le=1)
    seed: int = 0
    batch_size: int = Field(128, gt=0)
    """Prompts that are decoded at once."""


class CheckpointSpec(Spec):
    """The best (by evaluation) and the last checkpoint are kept."""

    every: int = Field(20, gt=0)
    """Steps between checkpoints that a run can be continued from."""


class StoppingSpec(Spec):
    """When a run is ended early on its own account (a sweep's pruner compares it with others)."""

    plateau: bool | None = None
    """Stop, as a success, when the forecast gain that is left is below `min_gain`.

    Without it: in a sweep that LawPruner's rule judges by evaluations, and only there. On training reward the same stop
    costs more than it saves, since a point of it is several times as noisy.
    """
    min_gain: float = Field(0.02, gt=0)
    """Gain left, as a share of what the run has gained, below which it has reached its plateau."""
    diverged: bool = True
    """Stop when the reward has collapsed far below the run's own best."""
    no_progress_seconds: float = Field(600.0, gt=0)
    """Kill the trainer when it writes nothing for so long."""
