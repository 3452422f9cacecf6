"""The sweep with real trainers, killed -9 in the middle: what the scripted sweeps promise holds for TRL as well."""

import os
import subprocess
import sys
from pathlib import Path

import optuna
import psutil
import pytest
from mlflow import MlflowClient
from optuna.trial import TrialState

from grpo_ops.home import Home
from tests.processes import wait_until

ROOT = Path(__file__).parents[2]
SETTINGS = (
    "trials=4",
    "run.model.id=starter:arith-xs@0.3",
    "run.grpo.max_steps=60",
    "run.grpo.per_device_train_batch_size=16",
    "run.evaluation.prompts=32",
)


def trainers(home):
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if "grpo_ops.training" in (line := process.info["cmdline"] or ()) and str(home.runs) in line[-1]
    ]


def has_step(home, step):
    wanted = f'"step": {step}'.encode()
    return any(wanted in journal.read_bytes() for journal in home.runs.glob("*/journal.jsonl"))


@pytest.mark.slow
def test_a_killed_sweep_of_real_trainers_is_continued(tmp_path, starter_cache):
    home = Home(tmp_path / "home")
    options = [part for setting in SETTINGS for part in ("--set", setting)]
    command = [sys.executable, "-m", "grpo_ops", "sweep", "deployments/sweeps/demo.toml", *options]
    environment = os.environ | {"GRPO_OPS_HOME": str(home.root), "GRPO_OPS_CACHE": str(starter_cache)}
    first = subprocess.Popen(command, cwd=ROOT, env=environment)
    wait_until(lambda: has_step(home, 30), process=first)
    first.kill()
    first.wait()
    wait_until(lambda: not trainers(home))

    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    (name,) = optuna.get_all_study_names(home.optuna_url)
    trials = optuna.load_study(study_name=name, storage=home.optuna_url).trials
    told = [trial for trial in trials if trial.state in (TrialState.COMPLETE, TrialState.PRUNED)]
    assert len({trial.user_attrs["run_key"] for trial in told}) == len(told) == 4
    assert not [trial for trial in trials if trial.state in (TrialState.RUNNING, TrialState.WAITING)]
    client = MlflowClient(home.tracking_uri)
    runs = client.search_runs([client.get_experiment_by_name("grpo-ops").experiment_id])
    assert len(runs) == 5
    assert {run.info.status for run in runs} <= {"FINISHED", "KILLED"}
    for run in runs:
        steps = [point.step for point in client.get_metric_history(run.info.run_id, "reward")]
        assert sorted(steps) == list(range(1, len(steps) + 1))
    assert not trainers(home)
