"""What a reader must know of a curve that was read: gaps, and points that are means over several steps."""

import operator
from collections.abc import Sequence
from itertools import islice, pairwise

from grpo_ops.curve import RewardCurve

_LONG_GAP = 2  # in units of the usual distance of two steps
_REGULAR = 2  # distances at least, before their being equal says anything


def curve_notes(curve: RewardCurve, logged: Sequence[int], window: int | None = None) -> list[str]:
    """Notes on averaging and gaps. logged: the steps of all points in their order, also of those without a reward.

    window: the steps of one point, where the file says so.
    """
    return _averaged(_distances(logged), window) + _gaps(curve)


def counted(count: int, what: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{count} {what}{'s' if count > 1 else ''}"


def _averaged(distances: Sequence[int], window: int | None) -> list[str]:
    if window is not None:
        return [f"one point is a mean over {window} steps (logging_steps)"] if window > 1 else []
    if len(distances) < _REGULAR or distances[0] <= 1 or set(distances) != {distances[0]}:
        return []
    return [f"one point is taken to be a mean over {distances[0]} steps, which is how far apart they are"]


def _gaps(curve: RewardCurve) -> list[str]:
    """One note on steps that are missing, if there are: the law reads them as missing, not as zero."""
    longest = _LONG_GAP * curve.spacing
    count = sum(distance >= longest for distance in _distances(curve.steps))
    if not count:
        return []
    _, start, end = max((b - a, a, b) for a, b in pairwise(curve.steps))
    return [f"{counted(count, 'gap')} in the steps, the longest from {start} to {end}"]


def _distances(steps: Sequence[int]) -> list[int]:
    return list(map(operator.sub, islice(steps, 1, None), steps))
