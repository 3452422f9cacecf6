"""phases(): the history of a run as slow start, rise, plateau, decline, with the step of each change."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtr

from grpo_ops.curve import RewardCurve
from grpo_ops.law.phase_evidence import Turn, flatness
from grpo_ops.law.phase_walk import walk
from grpo_ops.law.segments import Cells, bend, steps_up
from grpo_ops.law.series import Series, recent_window
from grpo_ops.law.types import Phase

_FEWEST_POINTS = 6
_SURE = 3.0
_CHANCE = 0.05
_SHORTEST = 3
_SHORTEST_SHARE = 0.06
_DOUBT = 2.0
_DOUBTFUL = 0.5
_LEAST_CHANGE = 0.1


@dataclass(frozen=True, slots=True)
class PhaseSpan:
    """A phase from step `start` to step `end`, where the next one starts.

    confidence, 0 to 1: of rise and decline, 1 - the chance that noise alone shows such a difference of levels anywhere
    in the curve; of a plateau, that its slope is below a third of that of the rise before it; of a slow start, that the
    curve bends upward after it; of no signal, the chance that noise alone shows a difference as large as the largest.
    """

    phase: Phase
    start: int
    end: int
    confidence: float

    def as_dict(self) -> dict[str, Any]:
        return {"phase": self.phase.value, "start": self.start, "end": self.end, "confidence": self.confidence}


def phases(curve: RewardCurve | Series, expected: float | None = None) -> tuple[PhaseSpan, ...]:
    """The phases of `curve` from its first step to its last, none for an empty one; the last is the current phase.

    More reward must be better. expected: the level forecast for the end; if it lies well above a run that has not
    changed yet, the current phase is a slow start instead of no signal.
    """
    series = curve if isinstance(curve, Series) else Series.of(curve)
    if len(series) < _FEWEST_POINTS or series.is_beyond_floats or series.is_constant:
        return _nothing_told(series)
    cells = Cells.of(series)
    spans = _spans(series, cells, walk(cells))
    current = spans[-1]
    if current.phase is Phase.NO_SIGNAL and _will_rise(series, expected):
        return (*spans[:-1], replace(current, phase=Phase.SLOW_START))
    return spans


def _nothing_told(series: Series) -> tuple[PhaseSpan, ...]:
    if not len(series):
        return ()
    sure = float(len(series) >= _FEWEST_POINTS and not series.is_beyond_floats)
    return (PhaseSpan(Phase.NO_SIGNAL, series.steps[0], series.last_step, sure),)


def _will_rise(series: Series, expected: float | None) -> bool:
    error = _SURE * series.noise * float(np.sqrt(2 / recent_window(len(series))))
    return expected is not None and expected - series.recent() > error


def _spans(series: Series, cells: Cells, turns: list[Turn]) -> tuple[PhaseSpan, ...]:
    turns, sure = _start(cells, turns)
    ends = [*(turn.onset for turn in turns[1:]), len(cells)]
    steps = [series.steps[0], *(series.steps[turn.onset * cells.block] for turn in turns[1:]), series.last_step]
    trust = [_confidence(cells, turns[: i + 1], end) for i, end in enumerate(ends)]
    if turns[0].phase is Phase.SLOW_START:
        trust[0] = sure
    spans = [PhaseSpan(turn.phase, steps[i], steps[i + 1], trust[i]) for i, turn in enumerate(turns)]
    spans = _without(spans, [_doubtful(cells, *each) for each in zip(turns, ends, trust, strict=True)])
    shortest = max(_SHORTEST * cells.block * series.spacing, _SHORTEST_SHARE * (series.last_step - series.steps[0]))
    return tuple(_without(spans, [s.phase is Phase.PLATEAU and s.end - s.start < shortest for s in spans]))


def _start(cells: Cells, turns: list[Turn]) -> tuple[list[Turn], float]:
    """The turns with the quiet at the start judged again by all that followed: a slow start before a rise, or none."""
    if len(turns) == 1:
        return turns, 0.0
    first, second = turns[0], turns[1]
    end = max(turns[2].onset, second.seen) if len(turns) > 2 else len(cells)
    sign = 1.0 if second.phase is Phase.RISE else -1.0
    onset, sigmas = bend(cells.y[:end], sign, float(cells.noise[end]))
    if onset < _SHORTEST or sigmas < _DOUBT:
        return turns[1:], 0.0
    quiet = replace(first, phase=Phase.SLOW_START) if second.phase is Phase.RISE else first
    return [quiet, replace(second, onset=onset), *turns[2:]], 1 - math.exp(-(sigmas**2) / 2)


def _doubtful(cells: Cells, turn: Turn, end: int, confidence: float) -> bool:
    """Whether it is more likely not there, or too small a change to be seen beside the others of the curve."""
    change = abs(cells.mean(turn.split, max(end, turn.seen, turn.split + 1)) - turn.base)
    small = turn.phase in (Phase.RISE, Phase.DECLINE) and change < _LEAST_CHANGE * cells.reach
    return small or confidence < _DOUBTFUL


def _without(spans: Sequence[PhaseSpan], doubtful: Sequence[bool]) -> list[PhaseSpan]:
    """The spans but the doubtful ones between others, which go to the one before; equal neighbours become one."""
    kept = list(spans[:1])
    for i, span in enumerate(spans[1:], 1):
        last = kept[-1]
        if doubtful[i] and i < len(spans) - 1:
            kept[-1] = replace(last, end=span.end)
        elif span.phase is last.phase:
            kept[-1] = replace(last, end=span.end, confidence=max(last.confidence, span.confidence))
        else:
            kept.append(span)
    return kept


def _confidence(cells: Cells, turns: list[Turn], end: int) -> float:
    now = turns[-1]
    if now.phase in (Phase.RISE, Phase.DECLINE):
        return 1 - _chance(cells, _difference(cells, now, max(end, now.seen)))
    if now.phase is Phase.PLATEAU:
        return float(ndtr(_flatness(cells, turns[-2], now, max(end, now.seen))))
    if now.phase is Phase.SLOW_START:
        return 0.0
    return _chance(cells, float(np.max(np.abs(steps_up(cells, now.onset)[1][:, : end + 1]))))


def _chance(cells: Cells, z: float) -> float:
    """That noise alone shows a difference of z sigmas anywhere: 5 % at the number of sigmas that makes it sure."""
    sigmas = abs(z) / cells.sure[-1]
    return float(min(1.0, _CHANCE ** (sigmas**2)))


def _difference(cells: Cells, turn: Turn, end: int) -> float:
    before = max(1, turn.split - turn.since)
    change = cells.mean(turn.split, end) - cells.mean(turn.since, max(turn.split, turn.since + 1))
    return float(change / cells.noise[end] / np.sqrt(1 / (end - turn.split) + 1 / before))


def _flatness(cells: Cells, rise: Turn, plateau: Turn, end: int) -> float:
    share = max(5, end - plateau.onset) / max(1, end - rise.onset)
    return float(flatness(cells, rise, np.array([min(1.0, share)]))[0, end])
