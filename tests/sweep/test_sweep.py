"""Whole sweeps: real Optuna on SQLite, real MLflow on SQLite, real processes; the trainer's curve is scripted."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import optuna
import psutil
import pytest
from mlflow import MlflowClient
from optuna.trial import TrialState

from grpo_ops.ending import Ending
from grpo_ops.errors import SupervisionError, SweepError
from grpo_ops.home import Home
from grpo_ops.journal import RunFolder
from grpo_ops.supervise import ProcessLauncher
from grpo_ops.sweep import run_sweep, train
from grpo_ops.sweep import study as studies
from grpo_ops.sweep.study import last_attempts
from grpo_ops.sweep.telling import tell
from tests.processes import PATIENCE, as_from_a_terminal, wait_until
from tests.scripted_trainer import RELEASED
from tests.sweep.sweep_process import SCRIPTED, TESTS, spec_with

GOOD, BAD = '{"grpo.learning_rate"=9e-4}', '{"grpo.learning_rate"=1e-6}'
NOBODY = ProcessLauncher(command=("false",))
MLFLOW_STATUS = {
    Ending.FINISHED: "FINISHED",
    Ending.PLATEAU: "FINISHED",
    Ending.HOPELESS: "KILLED",
    Ending.DIVERGED: "KILLED",
}


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


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


def test_a_finished_study_is_left_alone_and_a_new_one_made(home):
    spec = spec_with("trials=2")
    first = run_sweep(spec, home, launcher=SCRIPTED).study
    before = [trial.datetime_complete for trial in load(home).trials]
    second = run_sweep(spec, home, launcher=SCRIPTED).study
    assert re.fullmatch(r"demo-[0-9a-f]{4}", second)
    assert second != first
    assert [trial.datetime_complete for trial in load(home, first).trials] == before
    more = spec_with("trials=3")
    assert run_sweep(more, home, launcher=SCRIPTED).study == second  # the newest study of this spec, one trial more
    assert_whole(home, more, second)


def test_b8_f4_a_killed_trial_is_continued_from_its_checkpoint(home, monkeypatch):
    spec = spec_with("trials=2", "parallel=1", "pruner.name=none")
    killed = []

    def kill_once(board):
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


def test_b14_runs_that_fail_in_a_row_end_the_sweep_with_the_reason(home, monkeypatch):
    monkeypatch.setenv("TRAINER_MOOD", "crash:3")
    with pytest.raises(SweepError, match="RuntimeError: crashed at step 3"):
        run_sweep(spec_with("retries=0", "parallel=1"), home, launcher=SCRIPTED)
    study = load(home)
    assert [trial.state for trial in study.trials] == [TrialState.FAIL] * 3
    assert {run.info.status for run in mlflow_runs(home).values()} == {"FAILED"}


def test_b2_median_pruner_and_no_pruner(home, monkeypatch):
    board = run_sweep(spec_with("pruner.name=none", "trials=2"), home, launcher=SCRIPTED)
    assert board.saved == 0
    monkeypatch.setenv("TRAINER_MOOD", "hold:29:5")  # the bad one, until it is stopped
    queue = queue_of(*[GOOD] * 5, BAD)
    spec = spec_with("pruner.name=median", "trials=6", "parallel=1", "name=median", "run.grpo.max_steps=30", queue)
    board = run_sweep(spec, home, launcher=SCRIPTED)
    assert_whole(home, spec, board.study)
    assert any("MedianPruner" in row.reason for row in board.rows)


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


def test_b4_d1_a_killed_sweep_leaves_no_trainer_and_is_continued(home):
    spec = spec_with()
    process = start_sweep(home, mood="hold:40:2")
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
    spec = spec_with()
    process = start_sweep(home, mood="hold:40:1")
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


def test_one_study_has_one_sweep_process(home):
    process = start_sweep(home, mood="hold:40")
    try:
        wait_until(lambda: trainers(home), process=process)
        with pytest.raises(SupervisionError, match=rf"study demo-\w+ is being run by process {process.pid}"):
            run_sweep(spec_with(), home, launcher=SCRIPTED)
    finally:
        process.kill()
        process.wait()
    wait_until(lambda: not trainers(home))


def test_f3_a_run_on_its_own_is_continued_and_then_left_alone(home, monkeypatch):
    spec = spec_with().run
    monkeypatch.setenv("TRAINER_MOOD", "crash:33")
    assert train(spec, home, launcher=SCRIPTED).result.ending is Ending.FAILED
    report = train(spec, home, launcher=SCRIPTED)
    assert (report.result.ending, report.result.attempt, report.was_over) == (Ending.FINISHED, 1, False)
    again = train(spec, home, launcher=NOBODY)
    assert again.was_over
    assert again.result == report.result
    client = MlflowClient(home.tracking_uri)
    (run,) = client.search_runs([client.get_experiment_by_name("grpo-ops").experiment_id])
    assert run.info.status == "FINISHED"
    assert metric_steps(home, run, "reward") == list(range(1, 61))


def test_a_run_that_was_over_when_its_sweep_was_killed_is_closed_as_what_it_was(home):
    spec = spec_with()
    process = start_sweep(home, "parallel=1", mood="hold:40:1")
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


def test_a_retry_keeps_its_settings_when_the_attempt_before_drew_none(home):
    spec = spec_with()
    storage = studies.open_storage(spec, home)
    study = studies.open_study(spec, "demo-0000", storage)
    first = studies.ask(study, storage)
    drawn = first.suggest_float("grpo.learning_rate", 1e-6, 1e-3, log=True)
    tell(study, first, Ending.CANCELLED, "interrupted")
    studies.queue_retry(study, "demo-0000-000")
    tell(study, studies.ask(study, storage), Ending.CANCELLED, "killed before it drew its settings")
    studies.queue_retry(study, "demo-0000-000")
    third = studies.ask(study, storage)
    assert third.suggest_float("grpo.learning_rate", 1e-6, 1e-3, log=True) == drawn
    assert (third.user_attrs["attempt"], third.user_attrs["continues"]) == (2, 1)


def test_a_queued_point_survives_a_kill_right_after_it_was_asked_for(home):
    spec = spec_with("trials=2", 'enqueue=[{"grpo.learning_rate"=5e-4}]')
    storage = studies.open_storage(spec, home)
    study = studies.open_study(spec, "demo-0000", storage)
    study.ask()  # and killed: no owner, no run_key
    board = run_sweep(spec, home, launcher=SCRIPTED)
    assert board.study == "demo-0000"
    assert 5e-4 in [row.parameters["grpo.learning_rate"] for row in board.rows]
    assert_whole(home, spec)


def test_b5_b6_a_trial_that_another_process_failed_keeps_its_result(home, monkeypatch):
    monkeypatch.setenv("TRAINER_MOOD", "hold:40")
    spec = spec_with("trials=1", "parallel=1", "pruner.name=none")
    failed = []

    def fail_it_from_elsewhere(board):
        if not failed and board.rows and board.rows[0].step > 20:
            study = load(home)
            failed.append(study.tell(0, state=TrialState.FAIL))
            release(home)

    board = run_sweep(spec, home, launcher=SCRIPTED, show=fail_it_from_elsewhere)
    assert failed
    first, second = load(home).trials
    assert (first.state, second.state, second.user_attrs["continues"]) == (TrialState.FAIL, TrialState.COMPLETE, 0)
    assert (second.params, second.value) == (first.params, board.rows[0].evaluation)
    assert_whole(home, spec)


def test_two_homes_with_one_mlflow_keep_their_runs_apart(home, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/shared.db")
    other = Home(tmp_path / "other")
    spec = spec_with("trials=1", "parallel=1")
    boards = [run_sweep(spec, place, launcher=SCRIPTED) for place in (home, other)]
    reports = [train(spec.run, place, launcher=SCRIPTED) for place in (home, other)]
    ids = {row.mlflow_run_id for board in boards for row in board.rows} | {r.row.mlflow_run_id for r in reports}
    assert len(ids) == 4
    for place in (home, other):
        assert_whole(place, spec)


def test_a_study_is_continued_from_another_home(home, tmp_path):
    url = f"storage=sqlite:///{tmp_path}/study.db"
    first = run_sweep(spec_with("trials=2", url), home, launcher=SCRIPTED)
    second = run_sweep(spec_with("trials=3", url), Home(tmp_path / "other"), launcher=SCRIPTED)
    assert second.study == first.study
    assert [(row.key, row.ending, row.evaluation) for row in second.rows[:2]] == [
        (row.key, row.ending, row.evaluation) for row in first.rows
    ]
    assert second.rows[0].forecast == first.rows[0].forecast


def test_a_storage_that_fails_is_one_sentence(home):
    for url in ("sqlite:////no/such/folder/study.db", "nonsense://x", "postgresql+nosuchdriver://u:secret@h/d"):
        with pytest.raises(SweepError, match="storage") as caught:
            run_sweep(spec_with(f"storage={url}"), home, launcher=NOBODY)
        assert "secret" not in str(caught.value)


def test_train_closes_what_a_killed_supervisor_left_open(home):
    spec = spec_with().run
    report = train(spec, home, launcher=SCRIPTED)
    (home.runs / report.result.key / "closed.json").unlink()  # as a kill before the closing leaves it
    client = MlflowClient(home.tracking_uri)
    client.update_run(report.row.mlflow_run_id, status="RUNNING")
    again = train(spec, home, launcher=NOBODY)
    assert (again.was_over, again.row.mlflow_run_id) == (True, report.row.mlflow_run_id)
    assert client.get_run(report.row.mlflow_run_id).info.status == "FINISHED"
