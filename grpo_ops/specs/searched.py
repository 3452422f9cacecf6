"""Space: what a sweep may draw: its axes in the order of their conditions, and which combinations are valid runs.

Axes that constrain each other (batch size and num_generations) stay one parameter each, under their dotted paths and
with all their values: so they read well in every dashboard, and samplers that learn (TPE, GP, CMA-ES) see one fixed
space. A name of its own for each condition, or one joint choice, would hide from them that 8 generations are 8
generations at every batch size. What a sampler proposes is held to the valid combinations before it becomes a trial.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grpo_ops.specs.conditions import Axes, Point, active, combinations, depends_on, in_order, is_drawn
from grpo_ops.specs.distribution import is_same
from grpo_ops.specs.grpo import BATCH, GRPOSettings

_PREFIX = "grpo."


@dataclass(frozen=True)
class Space:
    """axes: path to its distribution, and whether it is over whole numbers; in the order in which they are drawn.

    linked: the axes that constrain each other, with those that decide whether they are drawn; empty if nothing binds.
    valid: the valid combinations of `linked`, each without what is not drawn in it.
    """

    axes: Axes
    linked: tuple[str, ...] = ()
    valid: tuple[Point, ...] = ()

    @classmethod
    def of(cls, axes: Axes, base: GRPOSettings, processes: int = 1) -> "Space":
        """The space over `axes`, whose conditions are sound, around the settings `base` of those that are not drawn.

        processes: ranks of a trainer, each of which has a batch of its own.
        """
        ordered = in_order(axes)
        linked = linked_paths(ordered)
        every = list(combinations(linked, ordered))
        valid = tuple(point for point in every if not _batch_fault(point, base, processes))
        return cls(ordered, linked, valid) if len(valid) < len(every) else cls(ordered)

    def is_drawn(self, path: str, point: Point) -> bool:
        """Whether the axis `path` is drawn where the axes before it have the values in `point`."""
        return is_drawn(path, self.axes, point)

    def active(self, point: Point) -> dict[str, Any]:
        """The part of `point` that is drawn."""
        return active(self.axes, point)

    def consistent(self, point: Point) -> dict[str, Any]:
        """`point`, which may lack axes, without what its own values keep from being drawn."""
        kept: dict[str, Any] = {}
        for path, (values, _) in self.axes.items():
            known = [other for other in values.only_if if other in point]
            if path in point and all(other in kept and values.allows(other, kept[other]) for other in known):
                kept[path] = point[path]
        return kept

    def fitting(self, given: Point) -> list[Point]:
        """The valid combinations of the linked axes that have what `given` says of them. Empty if there is none.

        An axis that `given` has and a combination does not draw counts as fitting.
        """
        known = {path: value for path, value in given.items() if path in self.linked}
        return [point for point in self.valid if _agree(point, known)]

    def is_valid(self, point: Point) -> bool:
        """Whether the linked axes of `point`, which has all that are drawn, are a valid combination."""
        own = self.active(point)
        own = {path: value for path, value in own.items() if path in self.linked}
        return not self.linked or any(len(own) == len(valid) and _agree(valid, own) for valid in self.valid)

    def repairs(self, proposed: Point, given: Point) -> list[Point]:
        """The valid combinations with what is `given` that change fewest axes of what is `proposed`; maybe none.

        Of those that change the same axes, the one with the shortest way through their lists of values.
        """
        shortest: dict[frozenset[str], tuple[float, Point]] = {}
        for point in self.fitting(given):
            ways = {path: self._way(path, proposed[path], value) for path, value in point.items() if path in proposed}
            changed, length = frozenset(path for path in ways if ways[path]), math.fsum(ways.values())
            if changed not in shortest or length < shortest[changed][0]:
                shortest[changed] = (length, point)
        fewest = min(map(len, shortest), default=0)
        return [point for changed, (_, point) in shortest.items() if len(changed) == fewest]

    def _way(self, path: str, one: Any, other: Any) -> float:
        distribution, whole = self.axes[path]
        values = distribution.values(whole)
        places = [next((i for i, value in enumerate(values) if is_same(value, x)), 0) for x in (one, other)]
        return abs(places[0] - places[1]) / len(values)

    def points(self) -> Iterator[dict[str, Any]]:
        """Every valid point of a space in which all axes have a list of values."""
        return (point for point in combinations(tuple(self.axes), _listed(self.axes)) if self.is_valid(point))


def linked_paths(axes: Axes) -> tuple[str, ...]:
    """The axes (in order) that constrain each other, with those that decide whether they are drawn; none or more."""
    bound = batch_paths(axes)
    if len(bound) < 2:
        return ()
    near = set(bound).union(*(depends_on(path, axes) for path in bound))
    return tuple(path for path in axes if path in near)


def batch_paths(axes: Axes) -> list[str]:
    """The axes of settings that decide how many completions a generation has, and in which groups."""
    return [path for path in axes if path.startswith(_PREFIX) and path.removeprefix(_PREFIX) in BATCH]


def count(paths: Sequence[str], axes: Axes) -> int:
    """How many combinations there are of the values of `paths`, at most."""
    return math.prod(len(values.values(whole)) for values, whole in (axes[path] for path in paths))


def _listed(axes: Axes) -> Axes:
    """The axes with all their values as choices."""
    return {
        path: (values.model_copy(update={"choices": values.listed(whole)}), whole)
        for path, (values, whole) in axes.items()
    }


def _agree(point: Point, known: Mapping[str, Any]) -> bool:
    return all(path not in point or is_same(point[path], value) for path, value in known.items())


def _batch_fault(point: Point, base: GRPOSettings, processes: int) -> list[str]:
    """Values that are no counts are named elsewhere, one by one."""
    settings = {path.removeprefix(_PREFIX): value for path, value in point.items() if path.startswith(_PREFIX)}
    counts = {name: value for name, value in settings.items() if name in BATCH}
    if not all(value is None or (type(value) is int and value > 0) for value in counts.values()):
        return []
    return base.model_copy(update=counts).batch_faults(processes)
