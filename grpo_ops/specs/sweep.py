"""SweepSpec: a RunSpec, a search space over its dotted paths, and how the study is run."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, model_validator

from grpo_ops.errors import SpecError
from grpo_ops.specs.base import Spec
from grpo_ops.specs.distribution import Distribution
from grpo_ops.specs.fields import is_whole_number
from grpo_ops.specs.paths import set_path
from grpo_ops.specs.run import RunSpec
from grpo_ops.specs.space import enqueue_faults, space_faults


class PrunerSpec(Spec):
    """Which pruner judges the trials."""

    name: Literal["law", "median", "none"] = "law"
    caution: float = Field(0.6, gt=0)
    """LawPruner's knob: 0.5 is bold, 0.8 to 1 is careful."""


class SweepSpec(Spec):
    """One Optuna study of GRPO runs; the objective is maximised."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,63}$")
    """Name of the study, in Optuna and of the parent run in MLflow."""
    trials: int = Field(gt=0)
    """Trials that end as complete or pruned; a failed one is retried and does not count."""
    parallel: int = Field(1, gt=0)
    """Trials that train at the same time, each in a process of its own."""
    retries: int = Field(2, ge=0)
    """How often a failed trial is continued from its last checkpoint."""
    objective: Literal["eval_reward", "reward"] = "eval_reward"
    """Judge by held-out evaluation, or by training reward (not where the space touches sampling)."""
    sampler: Literal["tpe", "random"] = "tpe"
    seed: int = Field(0, ge=0)
    """Seeds the sampler."""
    storage: str | None = None
    """Optuna storage URL; a SQLite file in the home without it."""
    pruner: PrunerSpec = PrunerSpec()
    space: dict[str, Distribution] = Field(min_length=1)
    """Dotted path in `run` to its distribution: `"grpo.learning_rate" = {low = 1e-5, high = 2e-3, log = true}`.

    A range is over whole numbers where the setting is one (`lora.r`), and in `grpo.extra` where it is written so.
    """
    enqueue: tuple[dict[str, Any], ...] = ()
    """Settings to try first, each a table of dotted path to value."""
    run: RunSpec

    @model_validator(mode="after")
    def _space_fits_the_run(self) -> "SweepSpec":
        axes = {path: (values, self.is_integer(path)) for path, values in self.space.items()}
        faults = space_faults(axes, self._fault_at) or enqueue_faults(self.enqueue, axes, self._fault_at)
        if faults:
            raise ValueError("\n".join(faults))
        return self

    def is_integer(self, path: str) -> bool:
        """Whether the range at `path` is over whole numbers: as the setting is, else as the range is written."""
        whole = is_whole_number(RunSpec, path)
        return self.space[path].is_integer if whole is None else whole

    def values(self, path: str) -> Sequence[Any]:
        """Values that stand for the axis `path`: all choices, all whole numbers of a range, or its ends."""
        return self.space[path].values(self.is_integer(path))

    def with_parameters(self, parameters: dict[str, Any]) -> RunSpec:
        """The run with `parameters` (dotted path to value) put in. Raises SpecError where they do not fit."""
        data = self.run.model_dump(mode="json")
        for path, value in parameters.items():
            set_path(data, path, value)
        return RunSpec.checked(data, f"{self.name}: trial")

    def _fault_at(self, point: dict[str, Any]) -> str | None:
        try:
            self.with_parameters(point)
        except SpecError as error:
            return error.faults[0]
        return None
