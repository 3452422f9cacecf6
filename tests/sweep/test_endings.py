"""How runs end in a whole sweep: the same in Optuna, in MLflow and on the board."""

import pytest
from optuna.trial import TrialState

from grpo_ops.ending import Ending
from grpo_ops.errors import SweepError
from grpo_ops.sweep import run_sweep
from grpo_ops.sweep.study import last_attempts
from tests.sweep.helpers import BAD, GOOD, assert_whole, load, metric_steps, mlflow_runs, queue_of, release
from tests.sweep.sweep_process import SCRIPTED, spec_with

MLFLOW_STATUS = {
    Ending.FINISHED: "FINISHED",
    Ending.PLATEAU: "FINISHED",
    Ending.HOPELESS: "KILLED",
    Ending.DIVERGED: "KILLED",
}


def test_endings_agree_in_optuna_and_mlflow(home, monkeypatch):
    monkeypatch.setenv("TRAINER_MOOD", "hold:55:2")  # until the bad one has been stopped
    spec = spec_with(queue_of(GOOD, GOOD, BAD))
    boards = []

    def look(board):
        boards.append(board)
        if board.count(Ending.HOPELESS):
            release(home)

    board = run_sweep(spec, home, launcher=SCRIPTED, show=look)
    assert_whole(home, spec)
    assert boards[-1] == board
    assert board.count(Ending.HOPELESS) >= 1
    assert board.count(Ending.FINISHED) >= 1
    assert 0 < board.saved < 1
    study, runs = load(home), mlflow_runs(home)
    for row in board.rows:
        trial = last_attempts(study)[row.key]
        assert trial.state is (TrialState.COMPLETE if row.ending.is_success else TrialState.PRUNED)
        assert trial.user_attrs["grpo_ops.ending"] == row.ending.value
        run = runs[row.key]
        assert run.info.status == MLFLOW_STATUS[row.ending]
        assert run.data.tags["mlflow.parentRunId"] == runs[board.study].info.run_id
        assert run.data.params["grpo.learning_rate"] == str(row.parameters["grpo.learning_rate"])
        assert run.data.metrics["eval_reward_best"] == pytest.approx(row.evaluation)
    hopeless = next(row for row in board.rows if row.ending is Ending.HOPELESS)
    decision = last_attempts(study)[hopeless.key].user_attrs["grpo_ops.decision"]
    assert decision["reason"] == "hopeless"
    assert decision["incumbent"] > decision["forecast"]["mean"]
    assert metric_steps(home, runs[hopeless.key], "law/forecast")
    best = study.best_trial
    assert best.value == max(row.evaluation for row in board.rows if row.ending.is_success)


def test_b2_median_pruner_and_no_pruner(home, monkeypatch):
    board = run_sweep(spec_with("pruner.name=none", "trials=2"), home, launcher=SCRIPTED)
    assert board.saved == 0
    monkeypatch.setenv("TRAINER_MOOD", "hold:29:5")  # the bad one, until it is stopped
    queue = queue_of(*[GOOD] * 5, BAD)
    spec = spec_with("pruner.name=median", "trials=6", "parallel=1", "name=median", "run.grpo.max_steps=30", queue)
    board = run_sweep(spec, home, launcher=SCRIPTED)
    assert_whole(home, spec, board.study)
    assert any("MedianPruner" in row.reason for row in board.rows)


def test_b14_runs_that_fail_in_a_row_end_the_sweep_with_the_reason(home, monkeypatch):
    monkeypatch.setenv("TRAINER_MOOD", "crash:3")
    with pytest.raises(SweepError, match="RuntimeError: crashed at step 3"):
        run_sweep(spec_with("retries=0", "parallel=1"), home, launcher=SCRIPTED)
    study = load(home)
    assert [trial.state for trial in study.trials] == [TrialState.FAIL] * 3
    assert {run.info.status for run in mlflow_runs(home).values()} == {"FAILED"}
