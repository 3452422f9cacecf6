"""The pruner that a study gets: Optuna's own where the spec names one, none where the sweep judges itself."""

from typing import Any

import optuna
from optuna.pruners import BasePruner

from grpo_ops.errors import SweepError
from grpo_ops.specs import PRUNERS, SweepSpec
from grpo_ops.sweep.options import made

_WHERE = "pruner.options"


def make_pruner(spec: SweepSpec) -> BasePruner:
    """Optuna's pruner of the spec. For `law` the sweep judges itself, with outcomes that a study cannot hold.

    Raises SweepError where an option is wrong or missing.
    """
    if not spec.pruner.is_optunas:
        return optuna.pruners.NopPruner()
    return _made(spec.pruner.name, spec.pruner.options, spec.run.grpo.max_steps)


def _made(name: str, options: dict[str, Any], max_steps: int) -> BasePruner:
    kind = getattr(optuna.pruners, PRUNERS[name])
    if name == "patient":
        options = _patient(options, max_steps)
    defaults = {"max_resource": max_steps} if name == "hyperband" else {}
    pruner: BasePruner = made(kind, options, _WHERE, defaults)
    return pruner


def _patient(options: dict[str, Any], max_steps: int) -> dict[str, Any]:
    """`wrapped_pruner` by name (`median` without it, `none` for patience alone), and its `wrapped_options`."""
    name = options.get("wrapped_pruner", "median")
    if name not in (*PRUNERS, "none") or name == "patient":
        raise SweepError(f"{_WHERE}.wrapped_pruner: {name!r} is not known here; known: {', '.join(PRUNERS)}, none")
    wrapped = None if name == "none" else _made(name, options.get("wrapped_options", {}), max_steps)
    return {key: value for key, value in options.items() if key != "wrapped_options"} | {"wrapped_pruner": wrapped}
