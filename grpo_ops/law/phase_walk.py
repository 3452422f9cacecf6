"""The walk along a curve: a small state machine that enters a phase on strong evidence and leaves it on strong evidence.

Each turn is the first point at which one of the exits of the present state is proven. As every statistic looks back
only, a curve that grows keeps its turns, apart from a better estimate of the noise: the phase does not flicker.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from grpo_ops.law.segments import Cells, bend, falls, slopes, steps_up
from grpo_ops.law.types import Floats, Phase

STAY = 2.5
FALL_FACTOR = 1.05
FALL_SHARE = 0.3
STAY_SHARE = 0.15
AGAIN_SHARE = 0.2
FLAT_SHARE = 0.35
SURELY_FLAT = 1.3
_LEAST_GAIN = 0.25
_MOST_TURNS = 60
_SHARES = np.array([0.3, 0.45, 0.6, 0.75])
_FEWEST_FLAT = 5

Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Turn:
    """A phase that begins: all indices of cells.

    onset: where it began. seen: where that was proven. since: where the stretch begins that it was told from; split:
    the cells from here on prove it. base: the level that it left. floor: the lowest base so far, which gains are
    measured from.
    """

    phase: Phase
    onset: int
    seen: int
    since: int
    split: int
    base: float
    floor: float


def walk(cells: Cells) -> list[Turn]:
    """The turns of a curve, the first one without a signal; a phase that later points disprove is taken back."""
    quiet = cells.mean(0, min(3, len(cells)))
    turns = [Turn(Phase.NO_SIGNAL, 0, 0, 0, 0, quiet, quiet)]
    for _ in range(_MOST_TURNS):
        taken = _next(cells, turns)
        if taken is None:
            break
        turns = taken
    return turns


def _next(cells: Cells, turns: list[Turn]) -> list[Turn] | None:
    exits = {Phase.NO_SIGNAL: _from_quiet, Phase.RISE: _from_rise, Phase.PLATEAU: _from_plateau}
    return exits.get(turns[-1].phase, _from_decline)(cells, turns)


def _from_quiet(cells: Cells, turns: list[Turn]) -> list[Turn] | None:
    now = turns[-1]
    gain, z = steps_up(cells, now.onset)
    told = (np.abs(z) > cells.sure) & (np.abs(gain) > _least(cells))
    t = _first(told, now.seen)
    if t is None:
        return None
    row = int(np.argmax(np.abs(z[:, t]) * told[:, t]))
    sign, split = float(np.sign(z[row, t])), t - int(cells.windows[row, 0])
    onset = now.onset + bend(cells.y[now.onset : t], sign, cells.noise[t])
    base = cells.mean(now.onset, max(onset, now.onset + 3))
    phase = Phase.RISE if sign > 0 else Phase.DECLINE
    return [*turns, Turn(phase, onset, t, now.onset, split, base, base)]


def _from_rise(cells: Cells, turns: list[Turn]) -> list[Turn] | None:
    now = turns[-1]
    lost = _first(~_holds(cells, now, 1.0), now.seen)
    fallen = _first(_fallen(cells, now)[1], now.seen)
    flat = _first(_flat(cells, now), now.seen)
    first = _earliest(lost, fallen, flat)
    if first is None:
        return None
    if first == lost:
        return _without(turns, 1, first)
    if first == fallen:
        return _added(turns, _decline(cells, now, first))
    knee = len(cells.y[now.onset : first]) - bend(cells.y[now.onset : first][::-1], -1.0, cells.noise[first])
    onset = now.onset + max(1, knee)
    return [*turns, replace(now, phase=Phase.PLATEAU, onset=onset, seen=first, since=now.since)]


def _from_plateau(cells: Cells, turns: list[Turn]) -> list[Turn] | None:
    now, rise = turns[-1], turns[-2]
    lost = _first(~_holds(cells, now, 1.0), now.seen)
    fallen = _first(_fallen(cells, rise)[1], now.seen)
    gain, z = steps_up(cells, now.onset)
    level = cells.trailing - gain
    up = (z > cells.sure) & (gain > np.maximum(AGAIN_SHARE * (level - now.floor), _least(cells)))
    again = _first(up, now.seen)
    first = _earliest(lost, fallen, again)
    if first is None:
        return None
    if first == lost:
        return _without(turns, 2, first)
    if first == fallen:
        return _added(turns, _decline(cells, rise, first))
    row = int(np.argmax(np.where(up[:, first], z[:, first], 0)))
    split = first - int(cells.windows[row, 0])
    onset = now.onset + bend(cells.y[now.onset : first], 1.0, cells.noise[first])
    base = cells.mean(now.onset, max(onset, now.onset + 1))
    return [*turns, Turn(Phase.RISE, max(onset, now.onset + 1), first, now.onset, split, base, now.floor)]


def _from_decline(cells: Cells, turns: list[Turn]) -> list[Turn] | None:
    now = turns[-1]
    lost = _first(~_holds(cells, now, -1.0), now.seen)
    low, risen = falls(cells, now.onset, -1.0)
    error = FALL_FACTOR * cells.sure * cells.noise * np.sqrt(2 / cells.windows)
    up = risen > np.maximum(error, FALL_SHARE * (now.base - low))
    again = _first(up, now.seen)
    first = _earliest(lost, again)
    if first is None:
        return None
    if first == lost:
        return _without(turns, 1, first)
    row = int(np.argmax(np.where(up[:, first], risen[:, first] / error[:, 0], 0)))
    onset = now.onset + bend(cells.y[now.onset : first], 1.0, cells.noise[first])
    base = float(low[row, first])
    split = first - int(cells.windows[row, 0])
    onset = min(max(onset, now.onset + 1), first - 1)
    since = max(now.onset, onset - int(cells.windows[row, 0]))
    return [*turns, Turn(Phase.RISE, onset, first, since, split, base, min(base, now.floor))]


def _holds(cells: Cells, turn: Turn, sign: float) -> Truths:
    """[t]: whether the cells since the split still differ from those that the turn was told from."""
    t = np.arange(len(cells) + 1)
    after = np.maximum(t - turn.split, 1)
    before = max(1, turn.split - turn.since)
    change = (cells.sums - cells.sums[turn.split]) / after - _level_before(cells, turn)
    enough = STAY * cells.noise * np.sqrt(1 / after + 1 / before)
    if turn.phase is Phase.DECLINE and turn.base > turn.floor:
        enough = np.maximum(enough, STAY_SHARE * (turn.base - turn.floor))
    return np.asarray(sign * change > enough)


def _level_before(cells: Cells, turn: Turn) -> float:
    return turn.base if turn.phase is Phase.DECLINE and turn.base > turn.floor else cells.mean(turn.since, turn.split)


def _fallen(cells: Cells, rise: Turn) -> tuple[Floats, Truths]:
    best, fall = falls(cells, rise.onset)
    error = FALL_FACTOR * cells.sure * cells.noise * np.sqrt(2 / cells.windows)
    return fall / error, fall > np.maximum(error, FALL_SHARE * (best - rise.floor))


def _decline(cells: Cells, rise: Turn, t: int) -> Turn:
    margin, told = _fallen(cells, rise)
    row = int(np.argmax(np.where(told[:, t], margin[:, t], 0)))
    window = int(cells.windows[row, 0])
    first = rise.onset + window
    peak = first + int(np.argmax(cells.trailing[row, first : t - window + 1]))
    begin = peak - window
    onset = begin + bend(cells.y[begin:t], -1.0, cells.noise[t])
    base = float(cells.trailing[row, peak])
    return Turn(Phase.DECLINE, onset, t, begin, t - window, base, rise.floor)


def _flat(cells: Cells, rise: Turn) -> Truths:
    """[t]: whether the slope of some last part of the rise is surely below a third of its mean slope so far."""
    margin = flatness(cells, rise, _SHARES)
    return np.asarray(np.any(margin > SURELY_FLAT, axis=0))


def flatness(cells: Cells, rise: Turn, shares: Floats) -> Floats:
    """[share, t]: by how many standard errors the slope of that last share lies below FLAT_SHARE of the mean slope."""
    slope, error, count = slopes(cells, shares, rise.onset)
    t = np.arange(len(cells) + 1)
    low = np.maximum(t - count, 0)
    level = (cells.sums - cells.sums[low]) / count
    way = np.maximum(t - count / 2 - rise.onset, 1)
    limit = FLAT_SHARE * np.maximum(level - rise.base, 0) / way
    return np.where(count >= _FEWEST_FLAT, (limit - np.abs(slope)) / error, -np.inf)


def _added(turns: list[Turn], turn: Turn) -> list[Turn]:
    """Onsets increase, whatever the bend that was found."""
    onset = min(max(turn.onset, turns[-1].onset + 1), turn.seen - 1)
    return [*turns, replace(turn, onset=onset)]


def _without(turns: list[Turn], count: int, t: int) -> list[Turn]:
    kept = turns[:-count]
    return [*kept[:-1], replace(kept[-1], seen=t)]


def _least(cells: Cells) -> float:
    return _LEAST_GAIN * cells.noise * float(np.sqrt(cells.block))


def _first(told: Truths, after: int) -> int | None:
    """The first t > after at which any row holds."""
    at = np.any(told, axis=0) if told.ndim > 1 else told
    found = np.flatnonzero(at[after + 1 :])
    return after + 1 + int(found[0]) if len(found) else None


def _earliest(*found: int | None) -> int | None:
    return min((t for t in found if t is not None), default=None)
