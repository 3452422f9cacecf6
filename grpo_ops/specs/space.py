"""Whether a search space holds only valid runs: its combinations are tried before the first trial is."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from grpo_ops.specs.combinations import culprits, points
from grpo_ops.specs.distribution import Distribution

#: Dotted path to its distribution, and whether that is over whole numbers.
Axes: TypeAlias = Mapping[str, tuple[Distribution, bool]]
FaultAt: TypeAlias = Callable[[dict[str, Any]], str | None]
#: Settings that constrain each other: a generation must hold whole groups.
_LINKED = tuple(
    f"grpo.{name}"
    for name in (
        "num_generations",
        "per_device_train_batch_size",
        "gradient_accumulation_steps",
        "steps_per_generation",
        "generation_batch_size",
    )
)
_MOST_SHOWN = 3


def space_faults(axes: Axes, fault_at: FaultAt) -> list[str]:
    """What is wrong with a space, one sentence a fault.

    fault_at: a function from a point to its fault, None where it is valid.
    """
    fractions = [
        f"space.{path}: {values.fraction:g} is no whole number, and this setting takes no other"
        for path, (values, whole) in axes.items()
        if whole and values.fraction is not None
    ]
    return fractions or _invalid_points(
        {path: values.values(whole) for path, (values, whole) in axes.items()}, fault_at
    )


def enqueue_faults(enqueued: Sequence[Mapping[str, Any]], axes: Axes, fault_at: FaultAt) -> list[str]:
    """What is wrong with the points that are to be tried first: not in the space, or no valid run."""
    first = {path: values.values(whole)[0] for path, (values, whole) in axes.items()}
    return [
        f"enqueue.{index}{fault}"
        for index, point in enumerate(enqueued)
        for fault in _outside(point, axes) or _invalid(first | dict(point), fault_at)
    ]


def _outside(point: Mapping[str, Any], axes: Axes) -> list[str]:
    unknown = [f".{path}: is not in the space; known: {', '.join(axes)}" for path in point if path not in axes]
    return unknown + [
        f".{path}: {value!r} is outside the space, which is {axes[path][0]}"
        for path, value in point.items()
        if path in axes and not axes[path][0].holds(value)
    ]


def _invalid(point: dict[str, Any], fault_at: FaultAt) -> list[str]:
    fault = fault_at(point)
    return [] if fault is None else [f": {fault}"]


def _invalid_points(axes: Mapping[str, Sequence[Any]], fault_at: FaultAt) -> list[str]:
    faults: dict[str, None] = {}
    invalid = 0
    for point in points(axes, _LINKED):
        fault = fault_at(point)
        invalid += fault is not None
        if fault is not None and len(faults) < _MOST_SHOWN:
            faults[_sentence(culprits(point, axes, fault, fault_at), fault)] = None
    more = [f"space: {invalid} combinations are no valid runs; the first of them are named here"]
    return [*faults] + (more if invalid > len(faults) >= _MOST_SHOWN else [])


def _sentence(point: Mapping[str, Any], fault: str) -> str:
    settings = ", ".join(f"{path} = {value!r}" for path, value in point.items())
    return f"space.{settings}: {fault}"
