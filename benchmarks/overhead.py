"""What supervision, journal, tracking and judging cost: `grpo-ops train` against a bare TRL GRPOTrainer.

Both train the same starter model with the same settings and seeds, in turn, in processes of their own. `loop` is the
time from the end of the first step to the end of the last one; held-out evaluations, which the bare script does not
do, are taken out of ours and shown beside it. Rewards are compared step by step: it must be the same training.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from grpo_ops.home import Home, quiet
from grpo_ops.journal import RunFolder, journal_curve, read_journal

SPEC = Path(__file__).parents[1] / "deployments/runs/demo.toml"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    arguments = parser.parse_args()
    steps = arguments.steps
    own = (f"grpo.max_steps={steps}", f"evaluation.every={steps}", "stopping.plateau=false")
    settings = (*own, *arguments.set)
    pairs = [(bare(settings), supervised(settings)) for _ in range(arguments.repeats)]
    report(pairs, arguments.steps)


def bare(settings: tuple[str, ...]) -> dict:
    """One run of the plain script."""
    with tempfile.TemporaryDirectory() as output:
        done = _run([sys.executable, "-m", "benchmarks.bare_trl", str(SPEC), output, *settings], Home.here().root)
    return json.loads(done.stdout.strip().splitlines()[-1])


def supervised(settings: tuple[str, ...]) -> dict:
    """One run of `grpo-ops train` in a fresh home."""
    with tempfile.TemporaryDirectory() as home:
        options = [part for setting in settings for part in ("--set", setting)]
        started = time.time()
        done = _run([sys.executable, "-m", "grpo_ops", "train", str(SPEC), "--json", *options], Path(home))
        total = time.time() - started
        folder = RunFolder(Home(Path(home)).runs / json.loads(done.stdout)["run_key"])
        return {"total": total, **journal_times(folder)}


def journal_times(folder: RunFolder) -> dict:
    """Loop time, evaluation time within it, and rewards, from the journal's own clock."""
    entries = read_journal(folder.journal)
    steps = [entry for entry in entries if entry["kind"] == "step"]
    first, last = steps[0]["time"], steps[-1]["time"]
    inside = [e["seconds"] for e in entries if e["kind"] == "evaluation" and first < e["time"] < last]
    return {"loop": last - first - sum(inside), "evaluation": sum(inside), "rewards": journal_curve(entries).rewards}


def report(pairs: list[tuple[dict, dict]], steps: int) -> None:
    """The table, its ratios (median over pairs) and whether both trained the same."""
    table = Table(title=f"{steps} steps, {len(pairs)} pairs, medians", title_justify="left")
    for column in ("", "bare TRL", "grpo-ops", "ratio"):
        table.add_column(column, justify="right")
    for name, unit, scale in (("loop", "ms a step", 1000 / (steps - 1)), ("total", "s, command to exit", 1.0)):
        ours = statistics.median(own[name] for _, own in pairs) * scale
        theirs = statistics.median(other[name] for other, _ in pairs) * scale
        ratio = statistics.median(own[name] / other[name] for other, own in pairs)
        table.add_row(f"{name} ({unit})", f"{theirs:.1f}", f"{ours:.1f}", f"{ratio:.3f}")
    console = Console()
    console.print(table)
    same = all(list(own["rewards"]) == list(other["rewards"]) for other, own in pairs)
    console.print(f"rewards of the two are {'the same at every step' if same else 'NOT the same'}")


def _run(command: list[str], home: Path) -> subprocess.CompletedProcess[str]:
    own = {"OMP_NUM_THREADS": "1", "GRPO_OPS_HOME": str(home), "GRPO_OPS_CACHE": str(Home.here().cache)}
    environment = quiet() | own
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)


if __name__ == "__main__":
    os.chdir(SPEC.parents[2])
    main()
