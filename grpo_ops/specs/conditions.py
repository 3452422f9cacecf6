"""Conditional axes: `only_if` says for which values of other axes an axis is drawn at all."""

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeAlias

from grpo_ops.specs.distribution import Distribution

Point: TypeAlias = Mapping[str, Any]
#: Dotted path to its distribution, and whether that is over whole numbers.
Axes: TypeAlias = Mapping[str, tuple[Distribution, bool]]


def condition_faults(axes: Axes) -> list[str]:
    """What is wrong with the conditions, one sentence a fault: unknown axes, values that they never take, cycles."""
    faults = [fault for path in axes for fault in _faults(path, axes)]
    if faults:
        return faults
    try:
        in_order(axes)
    except CycleError as error:
        return [f"space: only_if goes in a circle: {' -> '.join(error.args[1])}"]
    return []


def in_order(axes: Axes) -> dict[str, tuple[Distribution, bool]]:
    """The axes so that each comes after those that its condition names, else as they were written.

    Raises graphlib.CycleError where there is no such order.
    """
    TopologicalSorter({path: values.only_if for path, (values, _) in axes.items()}).prepare()
    ordered: dict[str, tuple[Distribution, bool]] = {}
    while len(ordered) < len(axes):
        path = next(path for path in axes if path not in ordered and axes[path][0].only_if.keys() <= ordered.keys())
        ordered[path] = axes[path]
    return ordered


def is_drawn(path: str, axes: Axes, point: Point) -> bool:
    """Whether the axis `path` is drawn where the axes before it have the values in `point`."""
    values = axes[path][0]
    return all(other in point and values.allows(other, point[other]) for other in values.only_if)


def active(axes: Axes, point: Point) -> dict[str, Any]:
    """The part of `point` that is drawn: without the axes whose condition does not hold. axes: in order."""
    kept: dict[str, Any] = {}
    for path in axes:
        if path in point and is_drawn(path, axes, kept):
            kept[path] = point[path]
    return kept


def depends_on(path: str, axes: Axes) -> set[str]:
    """The axes that decide whether `path` is drawn, near and far."""
    return set(axes[path][0].only_if).union(*(depends_on(other, axes) for other in axes[path][0].only_if))


def enabling(path: str, axes: Axes) -> dict[str, Any]:
    """Values of other axes with which `path` is drawn: the first that its condition allows."""
    needed: dict[str, Any] = {}
    for other in axes[path][0].only_if:
        needed |= enabling(other, axes) | {other: axes[path][0].allowed(other)[0]}
    return needed


def combinations(paths: Sequence[str], axes: Axes) -> Iterator[dict[str, Any]]:
    """Every combination of the values of `paths` (a part of `axes`, in order), each without what is not drawn in it."""

    def extend(point: dict[str, Any], rest: Sequence[str]) -> Iterator[dict[str, Any]]:
        if not rest:
            yield point
        elif not is_drawn(rest[0], axes, point):
            yield from extend(point, rest[1:])
        else:
            values, whole = axes[rest[0]]
            for value in values.values(whole):
                yield from extend({**point, rest[0]: value}, rest[1:])

    return extend({}, paths)


def _faults(path: str, axes: Axes) -> Iterator[str]:
    for other in axes[path][0].only_if:
        if other not in axes:
            yield f"space.{path}.only_if.{other}: is not in the space; known: {', '.join(axes)}"
            continue
        values, whole = axes[other]
        if values.choices is None and not whole:
            yield f"space.{path}.only_if.{other}: is a range over any number; a condition needs choices"
            continue
        never = [value for value in axes[path][0].allowed(other) if not values.holds(value)]
        if never or not axes[path][0].allowed(other):
            yield f"space.{path}.only_if.{other}: {', '.join(map(repr, never)) or 'no value'} is outside {values}"
