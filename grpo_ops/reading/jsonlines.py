"""Curves from JSON lines: one object a line, with its step and its reward."""

from pathlib import Path

from grpo_ops.errors import CurveError
from grpo_ops.reading.cleaning import Table
from grpo_ops.reading.columns import table_of
from grpo_ops.reading.rows import columns_of, json_object, json_rows, rewarded
from grpo_ops.reading.text import text_of

_OUR_KINDS = ("start", "step", "evaluation", "checkpoint", "warning", "end")


def is_journal(path: Path) -> bool:
    """Whether `path` is our own journal: its first object has one of our kinds, or nothing was written to it yet."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        first = next((row for row in map(json_object, file) if row is not None), None)
    if first is not None:
        return first.get("kind") in _OUR_KINDS
    return path.name == "journal.jsonl" or not path.read_bytes().strip()


def read_json_lines(path: Path, step: str | None, reward: str | None) -> Table:
    """The lines that carry a reward, whose numbers may lie one level down. Raises CurveError where there is none."""
    rows = json_rows(text_of(path.read_bytes()))
    if not rows:
        raise CurveError(f"{path} holds no JSON object: give one a line, with its step and its reward")
    rows, name = rewarded(rows, str(path), reward)
    return table_of(columns_of(rows), str(path), step, name)
