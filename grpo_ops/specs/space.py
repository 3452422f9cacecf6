"""Whether a search space holds valid runs: its combinations are tried before the first trial is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from grpo_ops.specs.combinations import culprits, ends, points
from grpo_ops.specs.conditions import Axes, Point, condition_faults, enabling, in_order
from grpo_ops.specs.grpo import GRPOSettings
from grpo_ops.specs.searched import Space, batch_paths, count, linked_paths

FaultAt: TypeAlias = Callable[[dict[str, Any]], str | None]
_MOST_LINKED = 50_000
_MOST_POINTS = 2000
_MOST_SHOWN = 3


def space_faults(axes: Axes, base: GRPOSettings, processes: int, fault_at: FaultAt) -> list[str]:
    """What is wrong with a space, one sentence a fault.

    Axes that constrain each other may have invalid combinations, which are never drawn, as long as one is valid. Every
    other fault is one: nothing would be left of the space that its writer meant.
    base: the settings of the run around it. fault_at: a function from a point to its fault, None where it is valid.
    """
    faults = _fractions(axes) or condition_faults(axes)
    if faults:
        return faults
    linked = linked_paths(in_order(axes))
    if count(linked, axes) > _MOST_LINKED:
        return [f"space: {' and '.join(linked)} have more than {_MOST_LINKED} combinations; give choices or a step"]
    space = Space.of(axes, base, processes)
    if space.linked and not space.valid:
        fault = fault_at(_first_of(space, {}))
        return [f"space: no combination of {' and '.join(space.linked)} is a valid run; for the first, {fault}"]
    return _invalid_points(space, fault_at)


def enqueue_faults(enqueued: Sequence[Mapping[str, Any]], space: Space, fault_at: FaultAt) -> list[str]:
    """What is wrong with the points that are to be tried first: not in the space, or no valid run."""
    return [
        f"enqueue.{index}{fault}"
        for index, point in enumerate(enqueued)
        for fault in _outside(point, space) or _not_drawn(point, space) or _invalid(point, space, fault_at)
    ]


def _fractions(axes: Axes) -> list[str]:
    return [
        f"space.{path}: {values.fraction:g} is no whole number, and this setting takes no other"
        for path, (values, whole) in axes.items()
        if whole and values.fraction is not None
    ]


def _outside(point: Point, space: Space) -> list[str]:
    axes = space.axes
    unknown = [f".{path}: is not in the space; known: {', '.join(axes)}" for path in point if path not in axes]
    return unknown + [
        f".{path}: {value!r} is outside the space, which is {axes[path][0]}"
        for path, value in point.items()
        if path in axes and not axes[path][0].holds(value)
    ]


def _not_drawn(point: Point, space: Space) -> list[str]:
    drawn = space.active(point)
    return [
        f".{path}: is drawn only if {_condition(path, space)}; give that, too, or leave it out"
        for path in point
        if path not in drawn
    ]


def _condition(path: str, space: Space) -> str:
    distribution = space.axes[path][0]
    return " and ".join(
        f"{other} is {' or '.join(map(repr, distribution.allowed(other)))}" for other in distribution.only_if
    )


def _invalid(point: Point, space: Space, fault_at: FaultAt) -> list[str]:
    fault = fault_at(_first_of(space, point))
    return [] if fault is None else [f": {fault}"]


def _first_of(space: Space, given: Point) -> dict[str, Any]:
    """The first valid point that has what is `given`; an invalid one where there is none."""
    first = {path: values.values(whole)[0] for path, (values, whole) in space.axes.items()}
    fitting = space.fitting(given)
    return space.active(first | dict(fitting[0] if fitting else {}) | dict(given))


def _invalid_points(space: Space, fault_at: FaultAt) -> list[str]:
    faults: dict[str, None] = {}
    invalid = 0
    values = {path: values.values(whole) for path, (values, whole) in space.axes.items()}
    for point in _points(space, values):
        fault = fault_at(point)
        invalid += fault is not None
        if fault is not None and len(faults) < _MOST_SHOWN:
            faults[_sentence(culprits(point, values, fault, fault_at), fault)] = None
    more = [f"space: {invalid} combinations are no valid runs; the first of them are named here"]
    return [*faults] + (more if invalid > len(faults) >= _MOST_SHOWN else [])


def _points(space: Space, values: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """All valid combinations if they are few; else the linked ones, and each end of every other axis on its own."""
    seen = set()
    many = count(tuple(space.axes), space.axes) > _MOST_POINTS
    for point in _spread(space, values) if many else points(values, _MOST_POINTS):
        drawn = space.active(point)
        if space.is_valid(drawn) and (key := repr(drawn)) not in seen:
            seen.add(key)
            yield drawn


def _spread(space: Space, values: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    linked = space.linked or batch_paths(space.axes)
    yield from (_first_of(space, point) for point in points({path: values[path] for path in linked}, _MOST_POINTS))
    for path in space.axes:
        if path not in linked:
            needed = enabling(path, space.axes)
            yield from (_first_of(space, needed | {path: value}) for value in ends(values[path]))


def _sentence(point: Mapping[str, Any], fault: str) -> str:
    settings = ", ".join(f"{path} = {value!r}" for path, value in point.items())
    return f"space.{settings}: {fault}"
