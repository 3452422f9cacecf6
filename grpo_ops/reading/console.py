"""Curves from what TRL prints: lines of `{'loss': 0.0, 'reward': 0.41, ...}` between progress bars."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grpo_ops.errors import CurveError
from grpo_ops.reading.cleaning import Table, to_number, to_numbers
from grpo_ops.reading.columns import table_of
from grpo_ops.reading.names import KINDS
from grpo_ops.reading.progress import Bar, counted_steps
from grpo_ops.reading.rows import columns_of, rewarded, step_name
from grpo_ops.reading.text import text_of

# A bar with a description (`Map: 40%|`) is not the trainer's.
_BAR = r"(?P<described>:[ ]*)?(?<!\d)\d{1,3}%\|[^|\r\n]*\|[ ]*(?P<done>\d{1,15})/(?P<total>\d{1,15}) \["
_DICT = r"(?P<dict>\{\s*['\"](?:[^{}\r\n]|\{[^{}\r\n]*\})*\})"
_EVENT = re.compile(f"{_BAR}|{_DICT}")
_PAIR = re.compile(r"""(['"])([^'"]+)\1\s*:\s*('[^']*'|"[^"]*"|[^\s,{}\[\]'"]+)""")


@dataclass(frozen=True, slots=True)
class _Line:
    """One printed dictionary, and the last progress bar before it."""

    values: dict[str, float]
    bar: Bar | None


def read_console(path: Path, step: str | None, reward: str | None) -> Table:
    """The lines of a console log that carry a reward; their steps are in them, or from the progress bars, or counted.

    Raises CurveError for a file that is not text or in which nobody printed a reward.
    """
    text = text_of(path.read_bytes(), errors="replace")
    lines = [] if "\0" in text else list(_lines(text))
    if not lines:
        raise CurveError(f"{path} is not a curve: give {KINDS}")
    rows, name = rewarded([line.values for line in lines], str(path), reward)
    kept = _trainers([line for line in lines if name in line.values])
    rows = [line.values for line in kept]
    if step or step_name(rows):
        return table_of(columns_of(rows), str(path), step or step_name(rows), name)
    return _with_steps(table_of(columns_of(rows), str(path), None, name), kept)


def _with_steps(table: Table, lines: Sequence[_Line]) -> Table:
    totals = Counter(line.bar.total for line in lines if line.bar is not None)
    total = totals.most_common(1)[0][0] if totals else None
    bars = [line.bar.done if line.bar is not None and line.bar.total == total else None for line in lines]
    steps, note = counted_steps(bars)
    return replace(table, steps=to_numbers(steps), max_steps=total or None, notes=(note,))


def _trainers(lines: list[_Line]) -> list[_Line]:
    """Without what others print, a reward function say: the trainer's own lines have an epoch."""
    own = [line for line in lines if "epoch" in line.values]
    return own or lines


def _lines(text: str) -> Iterator[_Line]:
    bar = None
    for event in _EVENT.finditer(text):
        if event["dict"] is not None:
            values = {key: to_number(value.strip("'\"")) for _, key, value in _PAIR.findall(event["dict"])}
            yield _Line(values, bar)
        elif event["described"] is None:
            bar = Bar(int(event["done"]), int(event["total"]))
