"""Sweeps whose process or trainers were killed or interrupted: the same command brings them to their end."""

import signal
from pathlib import Path

import pytest
from mlflow import MlflowClient
from optuna.trial import TrialState

from grpo_ops.journal import RunFolder
from grpo_ops.sweep import run_sweep
from grpo_ops.sweep.study import last_attempts
from tests.processes import PATIENCE, wait_until
from tests.sweep.helpers import (
    NOBODY,
    assert_whole,
    has_told,
    load,
    mlflow_runs,
    only_study,
    release,
    start_sweep,
    trainers,
)
from tests.sweep.sweep_process import SCRIPTED, spec_with


def test_b4_d1_a_killed_sweep_leaves_no_trainer_and_is_continued(home):
    spec = spec_with("pruner.name=none")  # nobody stops the held ones
    process = start_sweep(home, "pruner.name=none", mood="hold:40:2")
    wait_until(lambda: has_told(home, 2) and len(trainers(home)) >= 2, process=process)
    process.kill()
    process.wait()
    wait_until(lambda: not trainers(home))
    assert [trial for trial in load(home).trials if trial.state is TrialState.RUNNING]
    told = {trial.number: trial.value for trial in load(home).trials if trial.state.is_finished()}
    run_sweep(spec, home, launcher=SCRIPTED)
    assert_whole(home, spec)
    assert {number: load(home).trials[number].value for number in told} == told
    assert len(mlflow_runs(home)) == spec.trials + 1


def test_b7_an_interrupted_sweep_says_cancelled_and_is_continued(home):
    spec = spec_with("pruner.name=none")
    process = start_sweep(home, "pruner.name=none", mood="hold:40:1")
    wait_until(lambda: has_told(home, 1) and trainers(home), process=process)
    process.send_signal(signal.SIGINT)
    process.wait(PATIENCE)
    assert not trainers(home)
    cancelled = [trial for trial in load(home).trials if trial.user_attrs.get("grpo_ops.ending") == "cancelled"]
    assert cancelled
    assert {trial.state for trial in cancelled} == {TrialState.FAIL}
    runs = mlflow_runs(home)
    assert {runs[trial.user_attrs["run_key"]].info.status for trial in cancelled} == {"KILLED"}
    assert runs[only_study(home)].info.status == "KILLED"
    run_sweep(spec, home, launcher=SCRIPTED)
    assert_whole(home, spec)


def test_b8_f4_a_killed_trial_is_continued_from_its_checkpoint(home, monkeypatch):
    spec = spec_with("trials=2", "parallel=1", "pruner.name=none")
    killed, notes = [], set()

    def kill_once(board):
        notes.add(board.note)
        if not killed and board.rows and 33 <= board.rows[0].step < 60:
            killed.extend(trainers(home))
            killed[0].send_signal(signal.SIGKILL)
            release(home)

    monkeypatch.setenv("TRAINER_MOOD", "hold:40")
    board = run_sweep(spec, home, launcher=SCRIPTED, show=kill_once)
    assert killed
    assert_whole(home, spec)
    first, second, third = load(home).trials
    assert (first.state, first.user_attrs["grpo_ops.ending"]) == (TrialState.FAIL, "failed")
    assert first.user_attrs["grpo_ops.reason"].startswith("killed by SIGKILL")
    assert (second.user_attrs["continues"], second.user_attrs["attempt"], second.params) == (0, 1, first.params)
    assert second.user_attrs["run_key"] == first.user_attrs["run_key"] != third.user_attrs["run_key"]
    assert [row.attempt for row in board.rows] == [1, 0]
    reason = first.user_attrs["grpo_ops.reason"]
    assert notes == {"", f"trial 0 failed at step 40 ({reason}) and is tried again from its last checkpoint"}
    assert board.note == ""


def test_a_run_that_was_over_when_its_sweep_was_killed_is_closed_as_what_it_was(home):
    spec = spec_with("pruner.name=none")
    process = start_sweep(home, "pruner.name=none", "parallel=1", mood="hold:40:1")
    wait_until(lambda: has_told(home, 1) and trainers(home), process=process)
    process.send_signal(signal.SIGSTOP)  # it cannot see the endings any more
    folders = {Path(trainer.info["cmdline"][-1]) for trainer in trainers(home)}
    for folder in folders:
        RunFolder(folder).request_stop("hopeless", "planted")
    wait_until(lambda: all((folder / "result.json").exists() for folder in folders))
    process.kill()
    process.wait()
    run_sweep(spec, home, launcher=SCRIPTED)
    assert_whole(home, spec)
    study, runs = load(home), mlflow_runs(home)
    for folder in folders:
        trial = last_attempts(study)[folder.name]
        assert (trial.state, trial.user_attrs["grpo_ops.ending"]) == (TrialState.PRUNED, "hopeless")
        assert runs[folder.name].info.status == "KILLED"


@pytest.mark.slow
def test_a_sweep_killed_after_its_last_trial_is_closed_and_nothing_is_run_again(home):
    spec = spec_with("trials=2")
    board = run_sweep(spec, home, launcher=SCRIPTED)
    study = load(home)
    study.set_user_attr("grpo_ops.closed", False)  # as a kill between the last tell and the end leaves it
    MlflowClient(home.tracking_uri).update_run(mlflow_runs(home)[board.study].info.run_id, status="RUNNING")
    again = run_sweep(spec, home, launcher=NOBODY)
    assert again == board
    assert len(load(home).trials) == len(study.trials)
    assert mlflow_runs(home)[board.study].info.status == "FINISHED"
