"""Runs a sweep of scripted trainers in a process of its own, to be killed: `sweep_process.py HOME [key=value ...]`."""

import sys
from pathlib import Path

from grpo_ops.home import Home
from grpo_ops.specs import SweepSpec, load_spec
from grpo_ops.supervise import ProcessLauncher
from grpo_ops.sweep import run_sweep

TESTS = Path(__file__).parents[1]
SCRIPTED = ProcessLauncher(command=(sys.executable, str(TESTS / "scripted_trainer.py")))
SETTINGS = (
    "trials=6",
    "parallel=2",
    "run.grpo.max_steps=60",
    "run.evaluation.every=5",
    'space={"grpo.learning_rate"={low=1e-6,high=1e-3,log=true}}',
)


def spec_with(*settings: str) -> SweepSpec:
    return load_spec(SweepSpec, TESTS.parent / "deployments/sweeps/demo.toml", (*SETTINGS, *settings))


if __name__ == "__main__":
    print(run_sweep(spec_with(*sys.argv[2:]), Home(Path(sys.argv[1])), launcher=SCRIPTED).told)
