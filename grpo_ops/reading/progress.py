"""The steps of a log that names none: from the progress bars before its lines, or counted."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_TRUSTED = 0.5  # of the distances of bars: below it the lines were buffered, and came long after their bars


@dataclass(frozen=True, slots=True)
class Bar:
    """`done` of `total` steps, as tqdm shows them."""

    done: int
    total: int


def counted_steps(bars: Sequence[int | None]) -> tuple[list[int], str]:
    """One step a line, and a note on where it is from. bars: the steps done by the last bar before each line."""
    done = [bar for bar in bars if bar is not None]
    if len(done) == len(bars) and _is_regular(done):
        return done, "the log names no steps: they are from its progress bars"
    every = max(1, round(max(done) / len(bars))) if done else 1
    steps = [every * line for line in range(1, len(bars) + 1)]
    if done:
        return steps, f"the log names no steps: {every} a line is assumed, by its progress bars"
    return steps, "the log names no steps and shows no progress bar: one a line is assumed, as if logging_steps were 1"


def _is_regular(done: Sequence[int]) -> bool:
    """Whether most lines came as far after the one before; a resumed run may go back."""
    distances = Counter(after - before for before, after in pairwise(done) if after >= before)
    if not distances:
        return done[0] > 0
    usual, count = distances.most_common(1)[0]
    return usual > 0 and count >= _TRUSTED * distances.total()
