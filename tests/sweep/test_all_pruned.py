"""A sweep in which no run gets to its end."""

import optuna
from optuna.trial import TrialState

from grpo_ops.ending import Ending
from grpo_ops.home import Home
from grpo_ops.journal import RunFolder
from grpo_ops.sweep import run_sweep
from tests.sweep.sweep_process import SCRIPTED, spec_with


def test_b14_a_sweep_whose_runs_are_all_stopped_ends_with_its_board(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAINER_MOOD", "hold:10")
    home = Home(tmp_path / "home")

    def stop_all(board):
        for row in board.rows:
            if row.ending is None and row.step >= 5:
                RunFolder(home.runs / row.key).request_stop("hopeless", "planted")

    board = run_sweep(spec_with("trials=3", "pruner.name=none"), home, launcher=SCRIPTED, show=stop_all)
    assert [row.ending for row in board.rows] == [Ending.HOPELESS] * 3
    study = optuna.load_study(study_name=board.study, storage=home.optuna_url)
    assert {trial.state for trial in study.get_trials()} == {TrialState.PRUNED}
