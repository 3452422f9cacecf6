"""How noisy a growing curve has been so far, at each of its lengths: jumps of the level are not taken for noise."""

import math

import numpy as np

from grpo_ops.law.types import Floats

_MEDIAN_OF_NORMAL = 0.6745
_OUTLYING = 3.0
_MOST_JUMPS = 3
_FEWEST_RECENT = 15
_FIRST_LOOK = 12
_FEWEST_BLOCKS = 12
_LARGEST_BLOCK = 8
_ROUNDING = 1e-9


def noise_so_far(points: Floats, cells: Floats, seen: Floats) -> tuple[Floats, Floats]:
    """Of t = 0, 1, ... cells that hold the first seen[t] points: the noise of a cell; how many differences tell it.

    From neighbouring points, and from means of neighbouring cells where that is more, as it is where noise is
    correlated. Differences of exactly 0 (a reward that is stuck) tell nothing.
    """
    block = len(points) / max(1, len(cells))
    changes = np.diff(points)
    count = np.clip(seen - 1, 0, len(changes)).astype(int)
    squares = np.concatenate(([0.0], np.cumsum(changes**2)))
    told = np.concatenate(([0], np.cumsum(changes != 0)))
    mean = np.sqrt(np.maximum(squares[count] - _of_jumps(changes, count), 0) / np.maximum(count, 1) / 2)
    point = np.maximum(mean, _recent(squares, count))
    noise = np.maximum(point / math.sqrt(block), _of_blocks(cells))
    return np.maximum(noise, _ROUNDING * np.ptp(points)), told[count].astype(float)


def _of_jumps(changes: Floats, count: Floats) -> Floats:
    """[t]: by how much the sum of squares is too large, as the level jumped; 0 where that happens too often for jumps.

    A large change that the next one takes back is an outlier, and that is noise.
    """
    excess = np.zeros(len(count))
    for t in _looks(len(count) - 1, _FIRST_LOOK):
        known = changes[: count[t]]
        limit = _OUTLYING * _median(np.abs(known)) / _MEDIAN_OF_NORMAL
        large = np.sign(known) * (np.abs(known) > limit)
        back = large[1:] * large[:-1] < 0
        large[1:][back] = large[:-1][back] = 0
        jumps = known[large != 0]
        few = limit > 0 and len(jumps) <= _MOST_JUMPS
        excess[t:] = float(jumps @ jumps) - len(jumps) * limit**2 if few else 0.0
    return excess


def _recent(squares: Floats, count: Floats) -> Floats:
    """[t]: noise of the last third of the changes, as it can grow in the course of a run; 0 where they are few."""
    width = np.maximum(count // 3, 1)
    noise = np.sqrt(np.maximum(squares[count] - squares[np.maximum(count - width, 0)], 0) / width / 2)
    return np.where(width >= _FEWEST_RECENT, noise, 0.0)


def _of_blocks(cells: Floats) -> Floats:
    """[t]: noise of a cell from second differences of the means of neighbouring cells, 0 where there are too few."""
    noise = np.zeros(len(cells) + 1)
    sums = np.concatenate(([0.0], np.cumsum(cells)))
    for t in _looks(len(cells), 2 * _FEWEST_BLOCKS):
        size = min(_LARGEST_BLOCK, t // _FEWEST_BLOCKS)
        means = (sums[size : t + 1] - sums[: t + 1 - size]) / size
        bends = np.abs(means[2 * size :] - 2 * means[size:-size] + means[: -2 * size])
        noise[t:] = _median(bends) / _MEDIAN_OF_NORMAL * math.sqrt(size / 6)
    return noise


def _median(values: Floats) -> float:
    """The upper median; np.median takes ten times as long on so few values."""
    return float(np.partition(values, len(values) // 2)[len(values) // 2])


def _looks(length: int, first: int) -> list[int]:
    """Lengths at which medians are taken anew: each 1.6 times the one before."""
    looks = []
    while first <= length:
        looks.append(first)
        first += first * 3 // 5
    return looks
