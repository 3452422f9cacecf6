"""Points of a search space at which its validity is looked at: all of them where they are few."""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Axes: TypeAlias = Mapping[str, Sequence[Any]]
MOST_POINTS = 2000


def points(axes: Axes, most: int = MOST_POINTS) -> Iterator[dict[str, Any]]:
    """Every combination of the values of `axes` (path to values); a seeded draw of `most` where there are more."""
    count = _count(axes)
    numbers = range(count) if count <= most else sorted(random.Random(0).sample(range(count), most))
    return (_numbered(axes, number) for number in numbers)


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


def _numbered(axes: Axes, number: int) -> dict[str, Any]:
    """The combination with this number, if all were counted in the order of itertools.product."""
    point = {}
    for path, values in reversed(list(axes.items())):
        number, index = divmod(number, len(values))
        point[path] = values[index]
    return {path: point[path] for path in axes}
