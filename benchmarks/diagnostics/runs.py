"""The recorded runs: public curves beside the repository, the starter sweeps there, and the sweeps recorded here."""

import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grpo_ops.curve import RewardCurve

REPOSITORY = Path(__file__).resolve().parents[2]
PUBLIC = REPOSITORY.parent / "shared" / "curves"
RECORDED = REPOSITORY / "benchmarks" / "sweeps"

Run = dict[str, Any]


def public_runs() -> Iterator[Run]:
    """The public curves, where the folder is there: every second one to set thresholds by, the others to report."""
    for index, path in enumerate(sorted(PUBLIC.glob("*.csv"), key=lambda path: path.stem)):
        yield read(path, f"public/{path.stem}", "public, tuned on" if index % 2 == 0 else "public, held back")


def recorded_runs() -> Iterator[Run]:
    """Finished runs of our own, with their held-out evaluations as a column."""
    folders = [*sorted((PUBLIC / "starter").glob("*/")), RECORDED / "arith-s"]
    for path in (path for folder in folders for path in sorted(folder.glob("trial-*.csv"))):
        if not path.name.endswith(".evals.csv"):
            yield read(path, f"recorded/{path.parent.name}/{path.stem}", "recorded")


def read(path: Path, key: str, family: str) -> Run:
    """One CSV with a step and a reward column; empty cells are missing values."""
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["reward"]]
    names = [name for name in rows[0] if name not in ("step", "epoch")]
    columns = {name: [float(row[name]) if row[name] else None for row in rows] for name in names}
    steps = [int(row["step"]) for row in rows]
    scores = _evaluations(path.with_name(f"{path.stem}.evals.csv"))
    if scores:
        columns["eval_reward"] = [scores.get(step) for step in steps]
    used = {name: column for name, column in columns.items() if any(value is not None for value in column)}
    return {"id": key, "family": family, "truth": "", "steps": steps, "columns": used, "config": {"algorithm": "grpo"}}


def curve(run: Run) -> RewardCurve:
    """A run as our diagnostics take it."""
    columns = {
        name: tuple(math.nan if value is None else float(value) for value in column)
        for name, column in run["columns"].items()
    }
    return RewardCurve(tuple(run["steps"]), columns.pop("reward"), None, columns)


def _evaluations(path: Path) -> dict[int, float]:
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {int(row["step"]): float(row["mean"]) for row in csv.DictReader(file) if row["mean"]}
