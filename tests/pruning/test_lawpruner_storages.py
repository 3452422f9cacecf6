"""Many processes on one study: SQLite, a journal file, the gRPC proxy."""

import importlib.util
import os
import socket
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path

import optuna
import pytest
from optuna.trial import TrialState

from grpo_ops.pruning import DECISION_ATTRIBUTE, LawPruner
from tests.processes import PATIENCE

from .study_worker import STUDY, storage_of, work

ROOT = Path(__file__).parents[2]
WORKER = [sys.executable, str(Path(__file__).with_name("study_worker.py"))]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
REPORTS = 50


@pytest.fixture(params=["sqlite", "journal", "grpc"])
def place(request, tmp_path):
    """Kind and address of a storage that several processes can reach."""
    kind, file = request.param, str(tmp_path / "study")
    if kind == "grpc" and importlib.util.find_spec("grpc") is None:
        pytest.skip("grpcio is not installed")
    with served(file) if kind == "grpc" else nullcontext(file) as address:
        yield kind, address


@contextmanager
def served(file):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    server = subprocess.Popen([*WORKER, "serve", port, file], env=ENVIRONMENT)
    try:
        yield port
    finally:
        server.kill()
        server.wait()


def test_b9_four_processes_share_a_study(place):
    """Row B9: four workers, fifty reports a trial, no trial lost and none left running."""
    storage = storage_of(*place)
    optuna.create_study(study_name=STUDY, storage=storage, direction="maximize")
    command = [*WORKER, *place, "3", str(REPORTS)]
    workers = [subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    said = [worker.communicate(timeout=PATIENCE)[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 4, said
    study = optuna.load_study(study_name=STUDY, storage=storage)
    trials = study.get_trials()
    assert len(trials) == 12
    assert {trial.state for trial in trials} <= {TrialState.COMPLETE, TrialState.PRUNED}
    for trial in trials:
        assert trial.user_attrs[DECISION_ATTRIBUTE]["stop"] == (trial.state == TrialState.PRUNED)
    assert study.best_trial.params["end"] > max(trial.params["end"] for trial in trials) - 0.15


def test_each_storage_keeps_the_decisions(place):
    storage = storage_of(*place)
    optuna.create_study(study_name=STUDY, storage=storage, direction="maximize")
    work(storage, 10, REPORTS)
    again = optuna.load_study(study_name=STUDY, storage=storage_of(*place))
    pruned = [trial for trial in again.get_trials() if trial.state == TrialState.PRUNED]
    assert pruned
    assert all(trial.user_attrs[DECISION_ATTRIBUTE]["trial"] == trial.number for trial in pruned)
    assert LawPruner(REPORTS).explain(again).startswith(f"{len(pruned)} of 10 trials pruned: ")


def test_threads_share_a_study_in_memory():
    study = optuna.create_study(study_name=STUDY, direction="maximize")

    def objective(trial):
        curve = [0.1 * trial.number + 0.001 * step for step in range(REPORTS)]
        for step, reward in enumerate(curve):
            trial.report(reward, step)
            trial.should_prune()
        return curve[-1]

    study.pruner = LawPruner(REPORTS)
    study.optimize(objective, n_trials=8, n_jobs=2)
    assert all(trial.state == TrialState.COMPLETE for trial in study.get_trials())
    assert all(DECISION_ATTRIBUTE in trial.user_attrs for trial in study.get_trials())
