"""SweepSpec: a RunSpec, a search space over its dotted paths, and how the study is run."""

from typing import Any, Literal

from pydantic import Field, model_validator

from grpo_ops.specs.base import Spec
from grpo_ops.specs.paths import set_path
from grpo_ops.specs.run import RunSpec


class Distribution(Spec):
    """The values of one setting: a range (`low`, `high`) or a list of `choices`."""

    low: float | None = None
    high: float | None = None
    log: bool = False
    """Draw evenly in the logarithm."""
    step: float | None = Field(None, gt=0)
    choices: tuple[bool | int | float | str | None, ...] | None = None

    @model_validator(mode="after")
    def _range_or_choices(self) -> "Distribution":
        if (self.choices is None) == (self.low is None or self.high is None):
            raise ValueError("give low and high, or choices")
        if self.choices is None:
            assert self.low is not None and self.high is not None
            if self.low > self.high:
                raise ValueError(f"low = {self.low:g} is above high = {self.high:g}")
            if self.log and self.low <= 0:
                raise ValueError(f"log = true needs low > 0 but got {self.low:g}")
            if self.log and self.step is not None:
                raise ValueError("log and step cannot both be given")
        elif not self.choices:
            raise ValueError("choices is empty")
        return self

    @property
    def is_integer(self) -> bool:
        """Whether the range is over whole numbers: all of its ends and steps are."""
        ends = [end for end in (self.low, self.high, self.step) if end is not None]
        return not self.log and all(float(end).is_integer() for end in ends)

    @property
    def corners(self) -> tuple[Any, ...]:
        """Extreme values, for checking that the space holds only valid runs."""
        if self.choices is not None:
            return self.choices
        number = int if self.is_integer else float
        assert self.low is not None and self.high is not None
        return number(self.low), number(self.high)


class PrunerSpec(Spec):
    """Which pruner judges the trials."""

    name: Literal["law", "median", "none"] = "law"
    caution: float = Field(0.6, gt=0)
    """LawPruner's knob: 0.5 is bold, 0.8 to 1 is careful."""


class SweepSpec(Spec):
    """One Optuna study of GRPO runs."""

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
    direction: Literal["maximize", "minimize"] = "maximize"
    sampler: Literal["tpe", "random"] = "tpe"
    seed: int = Field(0, ge=0)
    """Seeds the sampler."""
    storage: str | None = None
    """Optuna storage URL; a SQLite file in the home without it."""
    pruner: PrunerSpec = PrunerSpec()
    space: dict[str, Distribution] = Field(min_length=1)
    """Dotted path in `run` to its distribution: `"grpo.learning_rate" = {low = 1e-5, high = 2e-3, log = true}`."""
    enqueue: tuple[dict[str, Any], ...] = ()
    """Settings to try first, each a table of dotted path to value."""
    run: RunSpec

    @model_validator(mode="after")
    def _space_fits_the_run(self) -> "SweepSpec":
        faults = [fault for path, values in self.space.items() for fault in self._faults(path, values)]
        faults += [
            f"enqueue.{index}.{path}: is not in the space; known: {', '.join(self.space)}"
            for index, point in enumerate(self.enqueue)
            for path in point
            if path not in self.space
        ]
        if faults:
            raise ValueError("\n".join(faults))
        return self

    def _faults(self, path: str, values: Distribution) -> list[str]:
        for value in values.corners:
            try:
                self.with_parameters({path: value})
            except ValueError as error:
                return [f"space.{path} = {value!r}: {str(error).splitlines()[-1].strip(' -')}"]
        return []

    def with_parameters(self, parameters: dict[str, Any]) -> RunSpec:
        """The run with `parameters` (dotted path to value) put in. Raises SpecError where they do not fit."""
        data = self.run.model_dump(mode="json")
        for path, value in parameters.items():
            set_path(data, path, value)
        return RunSpec.checked(data, f"{self.name}: trial")
