"""A run as two CSV files: TRL's columns by step, and its evaluations prompt by prompt."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from grpo_ops.journal import Entry

Rows = list[dict[str, str]]


def step_rows(entries: Iterable[Entry]) -> Rows:
    """`step` and every metric of each step that has a reward; a step's first line counts."""
    rows: dict[int, dict[str, str]] = {}
    for entry in entries:
        if entry["kind"] == "step" and "reward" in entry["metrics"]:
            metrics = {name: f"{value:.6g}" for name, value in entry["metrics"].items()}
            rows.setdefault(entry["step"], {"step": str(entry["step"]), **metrics})
    return [rows[step] for step in sorted(rows)]


def evaluation_rows(entries: Iterable[Entry]) -> Rows:
    """`step`, `mean` and `passed_by_prompt` of each regular evaluation that has a mean; a step's first one counts.

    `passed_by_prompt` has a 0 or 1 a prompt, in the order of the prompts; an evaluation with other outcomes lacks it.
    """
    rows: dict[int, dict[str, str]] = {}
    for entry in entries:
        if entry["kind"] == "evaluation" and entry.get("ask") is None and entry["mean"] is not None:
            rows.setdefault(entry["step"], evaluation_row(entry))
    return [rows[step] for step in sorted(rows)]


def evaluation_row(entry: Entry) -> dict[str, str]:
    """One evaluation as a row of text."""
    row = {"step": str(entry["step"]), "mean": f"{entry['mean']:.6g}"}
    if not set(entry["outcomes"]) <= {0, 1}:
        return row
    return row | {"passed_by_prompt": "".join("1" if outcome == 1 else "0" for outcome in entry["outcomes"])}


def write_rows(path: Path, rows: Iterable[Mapping[str, str]]) -> None:
    """The rows as CSV: `step` and `epoch` first, a column that no row has a value for is left out."""
    rows = list(rows)
    columns = sorted({name for row in rows for name in row}, key=lambda name: (name != "step", name != "epoch", name))
    scratch = path.with_name(f".{path.name}")
    with scratch.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    scratch.replace(path)
