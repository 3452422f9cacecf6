"""Pruners side by side on real GRPO, not a replay: the same space, seeds and trials, TPE, two tasks, two seeds each.

    python -m benchmarks.live [--trials 8] [--home FOLDER]      # writes benchmarks/live.md and live.csv

Each pruner runs the whole sweep anew, two trials at a time. What live.csv has is not run again. About 40 minutes on two
cores. The seed sets the sampler and the run; TPE sees other values once a pruner has stopped a trial, so from there on
the points differ as they do for a user.
"""

import argparse
import csv
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from grpo_ops.ending import Ending
from grpo_ops.home import Home
from grpo_ops.specs import SweepSpec
from grpo_ops.sweep import Board, run_sweep

HERE = Path(__file__).parent
STEPS, EVERY = 100, 5
PRUNERS: Mapping[str, Mapping[str, Any]] = {
    "NopPruner": {"name": "none"},
    "MedianPruner": {"name": "median"},
    "SuccessiveHalvingPruner (min_resource 20 %)": {"name": "sha", "options": {"min_resource": STEPS // 5}},
    "HyperbandPruner": {"name": "hyperband", "options": {"min_resource": STEPS // 10}},
    "LawPruner's rule": {"name": "law"},
}
MODELS = {"rotate": "starter:rotate-xs@0.3", "arith": "starter:arith-xs@0.3"}
SEEDS = (1, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--home", type=Path, help="keeps the studies; a temporary folder without it")
    parser.add_argument("--out", type=Path, default=HERE)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        rows = _read(chosen.out / "live.csv")
        for row in _missing(rows, chosen.trials, Home(chosen.home or Path(scratch))):
            rows.append(row)
            _write(chosen.out / "live.csv", rows)
            print(row, flush=True)
    (chosen.out / "live.md").write_text(page(rows, chosen.trials), encoding="utf-8")


def spec_of(task: str, seed: int, pruner: Mapping[str, Any], trials: int) -> SweepSpec:
    """One sweep of the comparison; only ours stops trials on their own account (plateau, collapse)."""
    is_law = pruner["name"] == "law"
    run = {
        "name": f"live-{task}",
        "seed": seed,
        "model": {"id": MODELS[task]},
        "task": {"source": "starter", "name": task, "train_size": 2048},
        "rewards": [{"name": "reasoning_gym"}],
        "grpo": {
            "max_steps": STEPS,
            "warmup_steps": 10,
            "per_device_train_batch_size": 64,
            "num_generations": 8,
            "max_completion_length": 16,
            "gradient_checkpointing": False,
        },
        "lora": {"r": 8, "lora_alpha": 16, "target_modules": "all-linear"},
        "evaluation": {"every": EVERY, "prompts": 128, "temperature": 1.0},
        "checkpoints": {"every": STEPS},
        "stopping": {"plateau": is_law, "diverged": is_law},
    }
    space = {
        "grpo.learning_rate": {"low": 1e-4, "high": 2e-2, "log": True},
        "grpo.num_generations": {"choices": [4, 8, 16]},
        "grpo.beta": {"choices": [0.0, 0.04]},
        "lora.r": {"choices": [4, 8, 16]},
    }
    document = {
        "name": f"live-{task}",
        "trials": trials,
        "parallel": 2,
        "sampler": "tpe",
        "seed": seed,
        "pruner": pruner,
    }
    return SweepSpec.checked(document | {"space": space, "run": run}, "live")


def _missing(rows: Sequence[Mapping[str, str]], trials: int, home: Home) -> Iterator[dict[str, str]]:
    have = {(row["task"], row["seed"], row["pruner"]) for row in rows}
    for task, seed, (name, pruner) in product(MODELS, SEEDS, PRUNERS.items()):
        if (task, str(seed), name) not in have:
            yield {"task": task, "seed": str(seed), "pruner": name} | _measured(
                spec_of(task, seed, pruner, trials), home
            )


def _measured(spec: SweepSpec, home: Home) -> dict[str, str]:
    started = time.monotonic()
    board = run_sweep(spec, home)
    seconds = time.monotonic() - started
    return {
        "seconds": f"{seconds:.1f}",
        "steps": str(board.steps_used),
        "steps_allowed": str(board.steps_allowed),
        "best": f"{_best(board):.4f}",
        "finished": str(board.count(Ending.FINISHED)),
        "plateau": str(board.count(Ending.PLATEAU)),
        "stopped": str(board.count(Ending.HOPELESS) + board.count(Ending.DIVERGED)),
    }


def _best(board: Board) -> float:
    """The best held-out evaluation among the trials that Optuna calls complete."""
    return max(row.evaluation or 0.0 for row in board.rows if row.ending and row.ending.is_success)


def page(rows: Sequence[Mapping[str, str]], trials: int) -> str:
    """The table as markdown: each sweep, then means over sweeps as ratios to no pruner."""
    lines = [
        "# Live: pruners on real GRPO runs",
        "",
        f"Written by `python -m benchmarks.live --trials {trials}`: {trials} trials of {STEPS} steps a sweep, TPE, two "
        f"at a time, an evaluation of 128 prompts every {EVERY} steps. `best` is the best held-out evaluation of a "
        "complete trial (standard error about .04). Seconds include the trainers' starts.",
        "",
        "| task, seed | pruner | seconds | steps | best | finished / plateau / stopped |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        ends = " / ".join(row[name] for name in ("finished", "plateau", "stopped"))
        lines.append(
            f"| {row['task']}, {row['seed']} | {row['pruner']} | {float(row['seconds']):.0f} | {row['steps']} "
            f"| {float(row['best']):.3f} | {ends} |"
        )
    lines += ["", "| mean over the sweeps | seconds, ratio | steps, ratio | best, difference |", "|---|---|---|---|"]
    return "\n".join([*lines, *(_mean(rows, name) for name in PRUNERS)]) + "\n"


def _mean(rows: Sequence[Mapping[str, str]], name: str) -> str:
    """One pruner against NopPruner on the same task and seed."""
    base = {(row["task"], row["seed"]): row for row in rows if row["pruner"] == "NopPruner"}
    own = [(row, base[row["task"], row["seed"]]) for row in rows if row["pruner"] == name]
    seconds, steps = (
        statistics.fmean(float(row[what]) / float(none[what]) for row, none in own) for what in ("seconds", "steps")
    )
    best = statistics.fmean(float(row["best"]) - float(none["best"]) for row, none in own)
    return f"| {name} | {seconds:.2f} | {steps:.2f} | {best:+.3f} |"


def _read(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(file.open(encoding="utf-8"))) if file.exists() else []


def _write(file: Path, rows: Sequence[Mapping[str, str]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
