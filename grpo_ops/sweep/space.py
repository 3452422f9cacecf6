"""From a search space by dotted paths to one trial's settings."""

from typing import Any

import optuna

from grpo_ops.specs import Distribution, RunSpec, SweepSpec
from grpo_ops.sweep.attributes import REPEAT


def suggest(trial: optuna.Trial, spec: SweepSpec) -> dict[str, Any]:
    """Ask `trial` for every path of the space that is drawn in it, conditions first: dotted path to value."""
    drawn: dict[str, Any] = {}
    for path, (values, is_integer) in spec.searched.axes.items():
        if spec.searched.is_drawn(path, drawn):
            drawn[path] = _suggest_one(trial, path, values, is_integer)
    return drawn


def run_of(trial: optuna.Trial, spec: SweepSpec, parameters: dict[str, Any]) -> RunSpec:
    """The run of `trial`: with its parameters, and, where it repeats another, with a seed of its own.

    Raises SpecError where the parameters are no valid run.
    """
    run = spec.with_parameters(parameters)
    return run.model_copy(update={"seed": run.seed + int(trial.user_attrs.get(REPEAT, 0))})


def _suggest_one(trial: optuna.Trial, path: str, values: Distribution, is_integer: bool) -> Any:
    if values.choices is not None:
        return trial.suggest_categorical(path, list(values.choices))
    assert values.low is not None and values.high is not None
    if is_integer:
        return trial.suggest_int(path, int(values.low), int(values.high), step=int(values.step or 1), log=values.log)
    return trial.suggest_float(path, values.low, values.high, log=values.log, step=values.step)
