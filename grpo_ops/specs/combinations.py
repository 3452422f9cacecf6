"""Points of a search space at which its validity is looked at: all of them where they are few."""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Axes: TypeAlias = Mapping[str, Sequence[Any]]
MOST_POINTS = 2000


def points(axes: Axes, linked: Sequence[str], most: int = MOST_POINTS) -> Iterator[dict[str, Any]]:
    """Every combination of the values of `axes` (path to values), if there are at most `most`.

    Beyond that: those of the `linked` axes, which constrain each other, with all others at their first value (a
    seeded draw of `most` where even they are more), then each end of every other axis on its own.
    """
    if _count(axes) <= most:
        yield from _drawn(axes, most)
        return
    first = {path: values[0] for path, values in axes.items()}
    for point in _drawn({path: axes[path] for path in axes if path in linked}, most):
        yield first | point
    for path in axes:
        if path not in linked:
            yield from (first | {path: value} for value in ends(axes[path]))


def ends(values: Sequence[Any]) -> Sequence[Any]:
    """First and last of a range of numbers; all of a list of choices."""
    return (values[0], values[-1]) if isinstance(values, range) else values


def culprits(point: Mapping[str, Any], axes: Axes, fault: str, fault_at: Any) -> dict[str, Any]:
    """The part of `point` that its `fault` comes from: the axes that it names, or that change it when they change.

    fault_at: a function from a point to its fault, None where it is valid.
    """

    def matters(path: str) -> bool:
        others = [value for value in ends(axes[path]) if value != point[path]]
        return fault.startswith(path) or any(fault_at({**point, path: value}) != fault for value in others)

    return {path: value for path, value in point.items() if matters(path)} or dict(point)


def _count(axes: Axes) -> int:
    return math.prod(len(values) for values in axes.values())


def _drawn(axes: Axes, most: int) -> Iterator[dict[str, Any]]:
    count = _count(axes)
    numbers = range(count) if count <= most else sorted(random.Random(0).sample(range(count), most))
    return (_numbered(axes, number) for number in numbers)


def _numbered(axes: Axes, number: int) -> dict[str, Any]:
    """The combination with this number, if all were counted in the order of itertools.product."""
    point = {}
    for path, values in reversed(list(axes.items())):
        number, index = divmod(number, len(values))
        point[path] = values[index]
    return {path: point[path] for path in axes}
