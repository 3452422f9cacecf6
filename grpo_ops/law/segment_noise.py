"""How noisy a growing curve has been so far, at each of its lengths: jumps of the level are not taken for noise."""

import math

import numpy as np

from grpo_ops.law.types import Floats

_MEDIAN_OF_NORMAL = 0.6745
_OUTLYING = 3.0
_FIRST_LOOK = 12
_FEWEST_BLOCKS = 12
_LARGEST_BLOCK = 16
_ROUNDING = 1e-9


def noise_so_far(points: Floats, cells: Floats, seen: Floats) -> tuple[Floats, Floats]:
    """Of t = 0, 1, ... cells that hold the first seen[t] points: the noise of a cell; how many differences tell it.

    From neighbouring points, and from means of neighbouring cells where that is more, as it is where noise is
    correlated. Differences of exactly 0 (a reward that is stuck) tell nothing.
    """
    block = len(points) / max(1, len(cells))
    changes = np.abs(np.diff(points))
    count = np.clip(seen - 1, 1, max(1, len(changes))).astype(int)
    squares = np.concatenate(([0.0], np.cumsum(changes**2)))
    told = np.concatenate(([0], np.cumsum(changes > 0)))
    mean = np.sqrt(squares[np.minimum(count, len(changes))] / count / 2)
    point = np.minimum(mean, _without_jumps(changes, seen))
    noise = np.maximum(point / math.sqrt(block), _of_blocks(cells))
    return np.maximum(noise, _ROUNDING * np.ptp(points)), told[np.minimum(count, len(changes))].astype(float)


def _without_jumps(changes: Floats, seen: Floats) -> Floats:
    """[t]: root mean square of the changes over sqrt(2), those cut that are outlying; infinite where most are 0."""
    noise = np.full(len(seen), np.inf)
    for t in _looks(len(seen) - 1, _FIRST_LOOK):
        known = changes[: int(seen[t]) - 1]
        limit = _OUTLYING * float(np.median(known)) / _MEDIAN_OF_NORMAL
        noise[t:] = math.sqrt(np.mean(np.minimum(known, limit) ** 2) / 2) if limit > 0 else np.inf
    return noise


def _of_blocks(cells: Floats) -> Floats:
    """[t]: noise of a cell from second differences of the means of neighbouring cells, 0 where there are too few."""
    noise = np.zeros(len(cells) + 1)
    sums = np.concatenate(([0.0], np.cumsum(cells)))
    for t in _looks(len(cells), 2 * _FEWEST_BLOCKS):
        size = min(_LARGEST_BLOCK, t // _FEWEST_BLOCKS)
        means = (sums[size : t + 1] - sums[: t + 1 - size]) / size
        bends = np.abs(means[2 * size :] - 2 * means[size:-size] + means[: -2 * size])
        noise[t:] = float(np.median(bends)) / _MEDIAN_OF_NORMAL * math.sqrt(size / 6)
    return noise


def _looks(length: int, first: int) -> list[int]:
    """Lengths at which medians are taken anew: each half as much again as the one before."""
    looks = []
    while first <= length:
        looks.append(first)
        first += first // 2
    return looks
