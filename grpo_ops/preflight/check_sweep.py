"""check_sweep(): pre-flight for a study: its storage and devices, and the runs of its space that differ for it."""

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

from grpo_ops.errors import SpecError
from grpo_ops.preflight.check import examine
from grpo_ops.preflight.code import warnings
from grpo_ops.preflight.devices import device_faults
from grpo_ops.preflight.findings import Findings
from grpo_ops.preflight.launch import slot_faults
from grpo_ops.preflight.rollouts import server_faults
from grpo_ops.preflight.storage import storage_faults
from grpo_ops.specs import SweepSpec

_LENGTH = "grpo.max_completion_length"
_SEEN = ("model", "task", "rewards", "evaluation", "grpo.extra", "rollouts")
_MOST_RUNS = 12


def check_sweep(spec: SweepSpec, *, allow_import_paths: bool = False) -> list[str]:
    """Every fault of the study's storage, devices and runs, each one sentence; a fault of one point names the point.

    Looked at are the values of model, task, rewards and evaluation in the space (their combinations where they are
    few), each with the longest completion; all other settings make no difference to pre-flight.
    """
    return list(examine_sweep(spec, allow_import_paths=allow_import_paths).faults)


def examine_sweep(spec: SweepSpec, *, allow_import_paths: bool = False) -> Findings:
    """What check_sweep() finds, and the warnings of the same points; `ends` are those of the first point's model."""
    slots = [*device_faults(spec.devices), *slot_faults(spec.run.launch, spec.devices, spec.run.rollouts.own_devices)]
    slots += server_faults(spec)
    faults = {fault: fault for fault in (*storage_faults(spec.storage), *slots, *_measure_faults(spec))}
    notes, ends = [*warnings(spec)], None
    for number, point in enumerate(_points(spec)):
        named = ", ".join(f"{path} = {value!r}" for path, value in point.items())
        found = _run_findings(spec, point, allow_import_paths)
        for fault in found.faults:
            faults.setdefault(fault, f"{fault} (with {named})" if number else fault)
        notes += found.warnings
        ends = ends or found.ends
    return Findings.of(faults.values(), notes, ends)


def _measure_faults(spec: SweepSpec) -> Iterator[str]:
    if spec.measure and (spec.objective != "eval_reward" or spec.pruner.name != "law"):
        yield "measure: true settles close calls of the pruner law on held-out evaluations, and this sweep has none"
    elif spec.measure and spec.run.evaluation.temperature == 0:
        yield "measure: true needs run.evaluation.temperature above 0: greedy decoding would say the same again"


def _run_findings(spec: SweepSpec, point: dict[str, Any], allow_import_paths: bool) -> Findings:
    try:
        return examine(spec.with_parameters(spec.searched.consistent(point)), allow_import_paths=allow_import_paths)
    except SpecError as error:
        return Findings.of(error.faults)


def _points(spec: SweepSpec) -> Iterator[dict[str, Any]]:
    """The first values of all axes that pre-flight sees, then the others."""
    axes = {path: list(dict.fromkeys(spec.values(path))) for path in spec.space if _is_seen(path)}
    longest = {_LENGTH: max(spec.values(_LENGTH))} if _LENGTH in spec.space else {}
    if math.prod(len(values) for values in axes.values()) <= _MOST_RUNS:
        yield from (dict(zip(axes, values, strict=True)) | longest for values in product(*axes.values()))
        return
    first = {path: values[0] for path, values in axes.items()} | longest
    yield first
    for path, values in axes.items():
        yield from (first | {path: value} for value in values[1:_MOST_RUNS])


def _is_seen(path: str) -> bool:
    return any(path == seen or path.startswith(f"{seen}.") for seen in _SEEN)
