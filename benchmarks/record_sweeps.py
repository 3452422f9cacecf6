"""Train the recorded sweeps anew (hours on a CPU) and write them to benchmarks/sweeps/, one CSV a trial.

    python -m benchmarks.record_sweeps [SWEEP ...] [--parallel 2] [--home FOLDER]

Trials that have their file already are left alone, so a run that was broken off goes on.
"""

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.recorded import SWEEPS, RecordedSweep
from grpo_ops.home import Home
from grpo_ops.journal import RunFolder, read_journal
from grpo_ops.specs import RunSpec
from grpo_ops.supervise import ProcessLauncher, prepare
from grpo_ops.sweep.recording import evaluation_row, write_rows

FOLDER = Path(__file__).parent / "sweeps"
NAMES = {"completions/mean_length": "completion_length"}
#: Says nothing about the training, or says what another column says.
LEFT_OUT = ("step_time", "train_runtime", "train_loss", "total_flos", "train_samples", "train_steps", "rewards/")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sweeps", nargs="*", default=[sweep.name for sweep in SWEEPS])
    parser.add_argument("--parallel", type=int, default=2)
    arguments = parser.parse_args()
    sweeps = [sweep for sweep in SWEEPS if sweep.name in arguments.sweeps]
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(arguments.parallel) as pool:
        for sweep in sweeps:
            jobs = [pool.submit(record, sweep, *trial, Home(Path(scratch))) for trial in sweep.trials()]
            for job in jobs:
                print(job.result(), flush=True)
            describe(sweep)


def record(sweep: RecordedSweep, trial: str, params: Mapping[str, Any], spec: RunSpec, home: Home) -> str:
    """Train one trial and write its two files; returns a line about it."""
    target = FOLDER / sweep.name / f"{trial}.csv"
    if target.exists():
        return f"{sweep.name} {trial}: recorded already"
    started = time.monotonic()
    folder = RunFolder(home.runs / f"{sweep.name}-{trial}")
    prepare(folder, spec)
    trainer = ProcessLauncher(threads=1).start(folder)
    while trainer.returncode() is None:
        time.sleep(0.2)
    entries = read_journal(folder.journal)
    steps = [entry for entry in entries if entry["kind"] == "step" and "reward" in entry["metrics"]]
    evaluations = [entry for entry in entries if entry["kind"] == "evaluation"]
    if not steps:
        raise SystemExit(f"{sweep.name} {trial} failed: {entries[-1].get('message') if entries else folder.log}")
    target.parent.mkdir(parents=True, exist_ok=True)
    write_rows(target.with_suffix(".evals.csv"), [evaluation_row(entry) for entry in evaluations])
    write_rows(target, [step_row(entry) for entry in steps])
    shutil.rmtree(folder.path)
    last = f"{steps[-1]['metrics']['reward']:.3f}" if steps else "none"
    return f"{sweep.name} {trial}: {len(steps)} steps, last reward {last}, {time.monotonic() - started:.0f} s"


def step_row(entry: Mapping[str, Any]) -> dict[str, str]:
    kept = {name: value for name, value in entry["metrics"].items() if not name.startswith(LEFT_OUT)}
    return {"step": str(entry["step"])} | {NAMES.get(name, name): f"{value:.5g}" for name, value in kept.items()}


def describe(sweep: RecordedSweep) -> None:
    """The sweep's own file: its trials, their parameters and where their curves are."""
    document = {
        "name": sweep.name,
        "note": f"GRPO with TRL on a CPU; {sweep.model}; {sweep.steps} steps; random search; every 10 steps "
        f"an evaluation on the same {sweep.prompts} prompts, sampled at temperature 1 with a fixed seed",
        "metric": "reward",
        "direction": "maximize",
        "trials": [
            {
                "trial": trial,
                "curve": f"{sweep.name}/{trial}.csv",
                "evals": f"{sweep.name}/{trial}.evals.csv",
                "params": params,
            }
            for trial, params, _ in sweep.trials()
        ],
    }
    (FOLDER / f"{sweep.name}.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
