"""Which model is trained, how it is evaluated, when it is saved and stopped."""

import difflib
import re
from typing import Literal

from pydantic import Field, field_validator

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

    Without it: in a sweep that LawPruner's rule judges by evaluations, and only there. By training reward
    the same stop lost more on the starter models' sweeps, a point of it being several times as noisy (docs/pruning.md).
    """
    min_gain: float = Field(0.02, gt=0)
    """Gain left, as a share of what the run has gained, below which it has reached its plateau."""
    diverged: bool = True
    """Stop when the reward has collapsed far below the run's own best."""
    symptoms: tuple[str, ...] = ()
    """Diagnoses that end the run as diverged, once critical at two looks in a row (there are 20 looks in a run).

    By the names in the journal, such as `stale rollouts` or `no signal: all wrong`. None by default: of the recorded
    runs whose reward had collapsed for so long, every fourth recovered.
    """
    no_progress_seconds: float = Field(600.0, gt=0)
    """Kill the trainer when it writes nothing for so long."""

    @field_validator("symptoms")
    @classmethod
    def _can_be_critical(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if (fault := _no_end(name)) is not None:
                raise ValueError(fault)
        return value


def _no_end(name: str) -> str | None:
    """Why a symptom of this name ends no run, None where it can."""
    from grpo_ops.law.diagnostics import CAN_BE_CRITICAL, Symptom  # scipy: only where symptoms are named

    known = sorted(symptom.value for symptom in CAN_BE_CRITICAL)
    if name in known:
        return None
    if name in set(Symptom):
        return f"{name!r} is never critical, so it ends no run; known: {', '.join(known)}"
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
    return f"{name!r} is no diagnosis that ends a run; {hint}"
