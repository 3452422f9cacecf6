"""What proves a fall or a plateau, and what a change needs to remain proven: less than to become so."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grpo_ops.law.segments import Cells, falls, slopes
from grpo_ops.law.types import Floats, Phase

FALL_SHARE = 0.3
_STAY = 2.5
_STAY_SHARE = 0.15
_LEAST_GAIN = 0.25
_FLAT_SHARE = 0.35
_SURELY_FLAT = 1.3
_SHARES = np.array([0.3, 0.45, 0.6, 0.75])
_FEWEST_FLAT = 5

Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Turn:
    """A phase that begins: all indices of cells.

    onset: where it began. seen: where that was proven. since: where the stretch begins that it was told from; split:
    the cells from here on prove it. base: the level that it left. floor, began: the level that all gains are measured
    from, and the onset of the first rise from it.
    """

    phase: Phase
    onset: int
    seen: int
    since: int
    split: int
    base: float
    floor: float
    began: int


def holds(cells: Cells, turn: Turn, sign: float) -> Truths:
    """[t]: whether the cells since the split still differ from those that the turn was told from."""
    t = np.arange(len(cells) + 1)
    after = np.maximum(t - turn.split, 1)
    before = max(1, turn.split - turn.since)
    change = (cells.sums - cells.sums[turn.split]) / after - _level_before(cells, turn)
    enough = _STAY * cells.noise * np.sqrt(1 / after + 1 / before)
    if turn.phase is Phase.DECLINE and turn.base > turn.floor:
        enough = np.maximum(enough, _STAY_SHARE * (turn.base - turn.floor))
    return np.asarray(sign * change > enough)


def _level_before(cells: Cells, turn: Turn) -> float:
    return turn.base if turn.phase is Phase.DECLINE and turn.base > turn.floor else cells.mean(turn.since, turn.split)


def fallen(cells: Cells, rise: Turn) -> tuple[Floats, Truths]:
    """[window, t]: the fall from the best level since the rise over what is sure; whether it is sure and large."""
    best, fall = falls(cells, rise.onset)
    return fall / cells.sure_fall, fall > np.maximum(cells.sure_fall, FALL_SHARE * (best - rise.floor))


def flat(cells: Cells, rise: Turn) -> Truths:
    """[t]: whether some last part of the rise is surely flat, see `flatness`."""
    margin = flatness(cells, rise, _SHARES)
    return np.asarray(np.any(margin > _SURELY_FLAT, axis=0))


def flatness(cells: Cells, rise: Turn, shares: Floats) -> Floats:
    """[share, t]: by how many standard errors the slope of that last share lies below _FLAT_SHARE of the mean slope.

    The mean slope is that of this rise or that of all gains since the first one, whichever is steeper.
    """
    slope, error, count = slopes(cells, shares, rise.onset)
    t = np.arange(len(cells) + 1)
    low = np.maximum(t - count, 0)
    level = (cells.sums - cells.sums[low]) / count
    here = (level - rise.base) / np.maximum(t - count / 2 - rise.onset, 1)
    overall = (level - rise.floor) / np.maximum(t - count / 2 - rise.began, 1)
    limit = _FLAT_SHARE * np.maximum(np.maximum(here, overall), 0)
    return np.where(count >= _FEWEST_FLAT, (limit - np.abs(slope)) / error, -np.inf)


def least_gain(cells: Cells) -> Floats:
    """[t]: a change that is smaller than a quarter of the noise of a point is none, however sure."""
    return np.asarray(_LEAST_GAIN * cells.noise * np.sqrt(cells.block))
