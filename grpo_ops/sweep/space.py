"""From a search space by dotted paths to one trial's settings."""

from typing import Any

import optuna

from grpo_ops.specs import Distribution, SweepSpec


def suggest(trial: optuna.Trial, spec: SweepSpec) -> dict[str, Any]:
    """Ask `trial` for every path of the space: dotted path to value."""
    return {path: _suggest_one(trial, path, values, spec.is_integer(path)) for path, values in spec.space.items()}


def _suggest_one(trial: optuna.Trial, path: str, values: Distribution, is_integer: bool) -> Any:
    if values.choices is not None:
        return trial.suggest_categorical(path, list(values.choices))
    assert values.low is not None and values.high is not None
    if is_integer:
        return trial.suggest_int(path, int(values.low), int(values.high), step=int(values.step or 1), log=values.log)
    return trial.suggest_float(path, values.low, values.high, log=values.log, step=values.step)
