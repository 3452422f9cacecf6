"""The walk along a curve: a small state machine that needs strong evidence to enter a phase, less to stay in it.

Each turn is the first point at which one of the exits of the present state is proven. As every statistic looks back
only, a curve that grows keeps its turns: the current phase does not flicker.
"""

from dataclasses import replace

import numpy as np

from grpo_ops.law.phase_evidence import FALL_SHARE, Truths, Turn, fallen, flat, holds, least_gain
from grpo_ops.law.segments import Cells, bend, falls, steps_up
from grpo_ops.law.types import Phase

_AGAIN_SHARE = 0.2
_BEFORE = 3
_MOST_TURNS = 60


def walk(cells: Cells) -> list[Turn]:
    """The turns of a curve, the first one without a signal; a phase that later points disprove is taken back."""
    quiet = cells.mean(0, min(3, len(cells)))
    turns = [Turn(Phase.NO_SIGNAL, 0, 0, 0, 0, quiet, quiet, 0)]
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
    told = (np.abs(z) > cells.sure) & (np.abs(gain) > least_gain(cells))
    t = _first(told, now.seen)
    if t is None:
        return None
    row = int(np.argmax(np.abs(z[:, t]) * told[:, t]))
    sign, split = float(np.sign(z[row, t])), t - int(cells.windows[row, 0])
    onset = now.onset + bend(cells.y[now.onset : t], sign, float(cells.noise[t]))[0]
    base = cells.mean(now.onset, max(onset, now.onset + 3))
    phase = Phase.RISE if sign > 0 else Phase.DECLINE
    return [*turns, Turn(phase, onset, t, now.onset, split, base, base, onset)]


def _from_rise(cells: Cells, turns: list[Turn]) -> list[Turn] | None:
    now = turns[-1]
    lost = _first(~holds(cells, now, 1.0), now.seen)
    fell = _first(fallen(cells, now)[1], now.seen)
    level = _first(flat(cells, now), now.seen)
    first = _earliest(lost, fell, level)
    if first is None:
        return None
    if first == lost:
        return _without(turns, 1, first)
    if first == fell:
        return _added(turns, _decline(cells, now, first))
    begin = max(now.since, now.onset - _BEFORE)
    back = bend(cells.y[begin:first][::-1], -1.0, float(cells.noise[first]))[0]
    return _added(turns, replace(now, phase=Phase.PLATEAU, onset=first - back, seen=first))


def _from_plateau(cells: Cells, turns: list[Turn]) -> list[Turn] | None:
    now, rise = turns[-1], turns[-2]
    lost = _first(~holds(cells, now, 1.0), now.seen)
    fell = _first(fallen(cells, rise)[1], now.seen)
    gain, z = steps_up(cells, now.onset)
    level = cells.trailing - gain
    up = (z > cells.sure) & (gain > np.maximum(_AGAIN_SHARE * (level - now.floor), least_gain(cells)))
    again = _first(up, now.seen)
    first = _earliest(lost, fell, again)
    if first is None:
        return None
    if first == lost:
        return _without(turns, 2, first)
    if first == fell:
        return _added(turns, _decline(cells, rise, first))
    row = int(np.argmax(np.where(up[:, first], z[:, first], 0)))
    split = first - int(cells.windows[row, 0])
    onset = now.onset + bend(cells.y[now.onset : first], 1.0, float(cells.noise[first]))[0]
    base = cells.mean(now.onset, max(onset, now.onset + 1))
    return [*turns, Turn(Phase.RISE, max(onset, now.onset + 1), first, now.onset, split, base, now.floor, now.began)]


def _from_decline(cells: Cells, turns: list[Turn]) -> list[Turn] | None:
    now = turns[-1]
    lost = _first(~holds(cells, now, -1.0), now.seen)
    low, risen = falls(cells, now.onset, -1.0)
    up = risen > np.maximum(cells.sure_fall, FALL_SHARE * (now.base - low))
    again = _first(up, now.seen)
    first = _earliest(lost, again)
    if first is None:
        return None
    if first == lost:
        return _without(turns, 1, first)
    row = int(np.argmax(np.where(up[:, first], risen[:, first] / cells.sure_fall[:, first], 0)))
    onset = now.onset + bend(cells.y[now.onset : first], 1.0, float(cells.noise[first]))[0]
    base = float(low[row, first])
    split = first - int(cells.windows[row, 0])
    onset = min(max(onset, now.onset + 1), first - 1)
    since = max(now.onset, onset - int(cells.windows[row, 0]))
    floor, began = (base, onset) if base < now.floor else (now.floor, now.began)
    return [*turns, Turn(Phase.RISE, onset, first, since, split, base, floor, began)]


def _decline(cells: Cells, rise: Turn, t: int) -> Turn:
    margin, told = fallen(cells, rise)
    row = int(np.argmax(np.where(told[:, t], margin[:, t], 0)))
    window = int(cells.windows[row, 0])
    first = rise.onset + window
    peak = first + int(np.argmax(cells.trailing[row, first : t - window + 1]))
    begin = peak - window
    onset = begin + bend(cells.y[begin:t], -1.0, float(cells.noise[t]))[0]
    base = float(cells.trailing[row, peak])
    return Turn(Phase.DECLINE, onset, t, begin, t - window, base, rise.floor, rise.began)


def _added(turns: list[Turn], turn: Turn) -> list[Turn]:
    """Onsets increase, whatever the bend that was found."""
    onset = min(max(turn.onset, turns[-1].onset + 1), turn.seen - 1)
    return [*turns, replace(turn, onset=onset)]


def _without(turns: list[Turn], count: int, t: int) -> list[Turn]:
    kept = turns[:-count]
    return [*kept[:-1], replace(kept[-1], seen=t)]


def _first(told: Truths, after: int) -> int | None:
    """The first t > after at which any row holds."""
    at = np.any(told, axis=0) if told.ndim > 1 else told
    found = np.flatnonzero(at[after + 1 :])
    return after + 1 + int(found[0]) if len(found) else None


def _earliest(*found: int | None) -> int | None:
    return min((t for t in found if t is not None), default=None)
