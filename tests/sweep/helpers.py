"""What tests of whole sweeps share: Optuna and MLflow on SQLite, real processes; the trainer's curve is scripted."""

import os
import subprocess
import sys

import optuna
import psutil
from mlflow import MlflowClient
from optuna.trial import TrialState

from grpo_ops.supervise import ProcessLauncher
from grpo_ops.sweep.study import last_attempts
from tests.processes import as_from_a_terminal
from tests.scripted_trainer import RELEASED
from tests.sweep.sweep_process import TESTS

GOOD, BAD = '{"grpo.learning_rate"=9e-4}', '{"grpo.learning_rate"=1e-6}'
NOBODY = ProcessLauncher(command=("false",))


def only_study(home):
    (name,) = optuna.get_all_study_names(home.optuna_url)
    return name


def load(home, name=None):
    return optuna.load_study(study_name=name or only_study(home), storage=home.optuna_url)


def mlflow_runs(home, study=None):
    """run_key (the study's own name for the parent) to its MLflow run."""
    study = study or only_study(home)
    client = MlflowClient(home.tracking_uri)
    experiment = client.get_experiment_by_name("grpo-ops")
    runs = client.search_runs([experiment.experiment_id], f"tags.`grpo_ops.study` = '{study}'", max_results=1000)
    return {run.data.tags.get("grpo_ops.run_key", study): run for run in runs}


def metric_steps(home, run, name):
    return sorted(point.step for point in MlflowClient(home.tracking_uri).get_metric_history(run.info.run_id, name))


def trainers(home):
    """Trainers that work in a folder of this home (the children that upload files are none)."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"] or ()
        if any("scripted_trainer" in part for part in line) and str(home.runs) in line[-1]:
            found.append(process)
    return found


def release(home):
    """Let the trainers that the mood `hold` holds go on."""
    (home.root / RELEASED).touch()


def assert_whole(home, spec, name=None):
    """As many runs told as asked for, nothing RUNNING anywhere, each step in MLflow once, nothing left behind."""
    study = load(home, name)
    name = study.study_name
    last = last_attempts(study)
    told = [trial for trial in last.values() if trial.state in (TrialState.COMPLETE, TrialState.PRUNED)]
    assert len(told) == spec.trials
    assert not [trial for trial in study.trials if trial.state in (TrialState.RUNNING, TrialState.WAITING)]
    runs = mlflow_runs(home, name)
    assert runs.keys() == {name, *last}
    assert {run.info.status for run in runs.values()} <= {"FINISHED", "KILLED", "FAILED"}
    for key, trial in last.items():
        steps = metric_steps(home, runs[key], "reward")
        assert steps == list(range(1, len(steps) + 1)), key
        assert trial.user_attrs["mlflow_run_id"] == runs[key].info.run_id
    assert not trainers(home)


def queue_of(*points):
    return f"enqueue=[{', '.join(points)}]"


def start_sweep(home, *settings, mood):
    environment = os.environ | {"TRAINER_MOOD": mood, "PYTHONPATH": str(TESTS.parent)}
    command = [sys.executable, str(TESTS / "sweep/sweep_process.py"), str(home.root), *settings]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, preexec_fn=as_from_a_terminal)


def has_told(home, count):
    try:
        return sum(trial.state.is_finished() for trial in load(home).trials) >= count
    except Exception:  # noqa: BLE001 - the database is not there yet, or being made
        return False
