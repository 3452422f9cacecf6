"""export_study(): a study as files that anybody can read: a sweep file, and CSV files for each trial."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grpo_ops.errors import SweepError
from grpo_ops.home import Home
from grpo_ops.journal import RunFolder, write_atomically
from grpo_ops.supervise import run_folder
from grpo_ops.sweep.broken_off import said_in_a_sentence
from grpo_ops.sweep.existing import load_existing
from grpo_ops.sweep.recording import Rows, evaluation_rows, step_rows, write_rows
from grpo_ops.sweep.resume import Past, past_runs


@dataclass(frozen=True)
class Export:
    """What was written. stopped: how many of the trials were stopped before their last step."""

    path: Path
    trials: int
    stopped: int


def export_study(
    study_name: str, to: Path | None = None, home: Home | None = None, *, storage: str | None = None
) -> Export:
    """Write the trials of a study that are over to FOLDER/STUDY.json and FOLDER/STUDY/: what `backtest` reads.

    to: the folder, by default the current one. storage: the study's, if it is not the home's own. A trial whose run
    folder is elsewhere is written as its values are in Optuna. Raises SweepError where no trial is over.
    """
    home, folder = home or Home.here(), to or Path()
    with said_in_a_sentence(home):
        study = load_existing(study_name, home, storage)
        past = past_runs(study, home)
    runs = [run for run in past.values() if len(run.view.curve)]
    if not runs:
        raise SweepError(f"no trial of study {study_name} is over: there is nothing to export yet")
    (folder / study_name).mkdir(parents=True, exist_ok=True)
    trials = [_trial(folder, study_name, run, run_folder(home, run.row.key)) for run in runs]
    stopped = sum(1 for run in runs if run.row.step < run.row.max_steps)
    document = {
        "name": study_name,
        "note": f"exported by grpo-ops; {stopped} of {len(runs)} trials were stopped before their last step",
        "metric": "reward",
        "direction": "maximize",
        "trials": trials,
    }
    path = folder / f"{study_name}.json"
    write_atomically(path, json.dumps(document, indent=1) + "\n")
    return Export(path, len(runs), stopped)


def _trial(folder: Path, study_name: str, run: Past, source: RunFolder) -> dict[str, Any]:
    """The trial's entry in the sweep file; its curves are written on the way."""
    name = f"trial-{run.row.number:03d}"
    steps, evaluations = _rows(run, source)
    entry: dict[str, Any] = {"trial": name, "run_key": run.row.key, "curve": f"{study_name}/{name}.csv"}
    write_rows(folder / entry["curve"], steps)
    if evaluations:
        entry["evals"] = f"{study_name}/{name}.evals.csv"
        write_rows(folder / entry["evals"], evaluations)
    ending = run.row.ending.value if run.row.ending else None
    return entry | {"params": dict(run.row.parameters), "ending": ending, "max_steps": run.row.max_steps}


def _rows(run: Past, source: RunFolder) -> tuple[Rows, Rows]:
    if source.journal.exists():
        entries = source.entries()
        return step_rows(entries), evaluation_rows(entries)
    curve, evaluations = run.view.curve, run.view.evaluations
    steps = [{"step": str(point.step), "reward": f"{point.reward:.6g}"} for point in curve]
    return steps, [{"step": str(found.step), "mean": f"{found.mean:.6g}"} for found in evaluations]
