"""SweepSpec: a RunSpec, a search space over its dotted paths, and how the study is run."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from grpo_ops.errors import SpecError
from grpo_ops.specs.comparable import comparability_faults
from grpo_ops.specs.distribution import Distribution
from grpo_ops.specs.effort import EffortSpec
from grpo_ops.specs.fields import is_whole_number
from grpo_ops.specs.parameters import put_parameters
from grpo_ops.specs.run import RunSpec
from grpo_ops.specs.searched import Space
from grpo_ops.specs.searchers import PrunerSpec, sampler_name
from grpo_ops.specs.space import enqueue_faults, space_faults


class SweepSpec(EffortSpec):
    """One Optuna study of GRPO runs; the objective is maximised."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,63}$")
    """Name of the study, in Optuna and of the parent run in MLflow."""
    trials: int = Field(gt=0)
    """Trials that end as complete or pruned; a failed one is retried and does not count, nor does a repeat."""
    objective: Literal["eval_reward", "reward"] = "eval_reward"
    """Judge by held-out evaluation, or by training reward (not where the space touches sampling)."""
    sampler: str = "tpe"
    """Any sampler of Optuna's for one objective: tpe, random, gp, cmaes, qmc, grid, brute_force, nsgaii, nsgaiii."""
    sampler_options: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the sampler, under Optuna's names: `{n_startup_trials = 5}`."""
    queue: int = Field(0, ge=0)
    """Points drawn ahead, of which the one with the best predicted result is tried next; 0 tries them as drawn."""
    repeats: int = Field(1, gt=0)
    """Runs, each with a seed of its own, that a point may get in all: those beyond the first go, once all trials are
    over, to the points that cannot be told from the best."""
    seed: int = Field(0, ge=0)
    """Seeds the sampler."""
    storage: str | None = None
    """Optuna storage URL; a SQLite file in the home without it."""
    pruner: PrunerSpec = PrunerSpec()
    space: dict[str, Distribution] = Field(min_length=1)
    """Dotted path in `run` to its distribution: `"grpo.learning_rate" = {low = 1e-5, high = 2e-3, log = true}`.

    A range is over whole numbers where the setting is one (`lora.r`), and in `grpo.extra` where it is written so.
    `only_if` draws a setting only where others have given values; `lora = {choices = [true, false]}` switches a table.
    """
    enqueue: tuple[dict[str, Any], ...] = ()
    """Settings to try first, each a table of dotted path to value."""
    run: RunSpec

    @field_validator("sampler")
    @classmethod
    def _known_sampler(cls, value: str) -> str:
        return sampler_name(value)

    @model_validator(mode="after")
    def _space_fits_the_run(self) -> "SweepSpec":
        faults = space_faults(self._axes, self.run.grpo, self.run.launch.processes, self._fault_at)
        faults = faults or enqueue_faults(self.enqueue, self.searched, self._fault_at)
        faults = faults or list(comparability_faults(self._axes, self.objective, self.run, self.with_parameters))
        if faults:
            raise ValueError("\n".join(faults))
        return self

    @cached_property
    def searched(self) -> Space:
        """The space as it is drawn from: in order, with what is valid."""
        return Space.of(self._axes, self.run.grpo, self.run.launch.processes)

    @property
    def _axes(self) -> dict[str, tuple[Distribution, bool]]:
        return {path: (values, self.is_integer(path)) for path, values in self.space.items()}

    def is_integer(self, path: str) -> bool:
        """Whether the range at `path` is over whole numbers: as the setting is, else as the range is written."""
        whole = is_whole_number(RunSpec, path)
        return self.space[path].is_integer if whole is None else whole

    def values(self, path: str) -> Sequence[Any]:
        """Values that stand for the axis `path`: all choices, all whole numbers of a range, or its ends."""
        return self.space[path].values(self.is_integer(path))

    def with_parameters(self, parameters: Mapping[str, Any]) -> RunSpec:
        """The run with `parameters` (dotted path to value) put in. Raises SpecError where they do not fit."""
        data = put_parameters(self.run.model_dump(mode="json"), parameters)
        return RunSpec.checked(data, f"{self.name}: trial")

    def _fault_at(self, point: dict[str, Any]) -> str | None:
        try:
            self.with_parameters(point)
        except SpecError as error:
            return error.faults[0]
        return None
