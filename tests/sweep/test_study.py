"""Which study a sweep works on, whose it is, and what its trials keep when another process interferes."""

import re

import optuna
import pytest
from optuna.trial import TrialState

from grpo_ops.ending import Ending
from grpo_ops.errors import SupervisionError, SweepError
from grpo_ops.home import Home
from grpo_ops.pruning import PruneDecision, PruneReason
from grpo_ops.sweep import run_sweep, train
from grpo_ops.sweep import study as studies
from grpo_ops.sweep.resume import requeue, settle_orphans
from grpo_ops.sweep.telling import note_decision, tell
from grpo_ops.sweep.waiting import claim_continuation
from tests.processes import wait_until
from tests.sweep.helpers import NOBODY, assert_whole, load, release, start_sweep, trainers
from tests.sweep.sweep_process import SCRIPTED, spec_with


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


def test_one_study_has_one_sweep_process(home):
    process = start_sweep(home, "pruner.name=none", mood="hold:40")
    try:
        wait_until(lambda: trainers(home), process=process)
        with pytest.raises(SupervisionError, match=rf"study demo-\w+ is being run by process {process.pid}"):
            run_sweep(spec_with("pruner.name=none"), home, launcher=SCRIPTED)
    finally:
        process.kill()
        process.wait()
    wait_until(lambda: not trainers(home))


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


def test_what_a_sweep_of_this_process_left_running_is_taken_over(tmp_path):
    home, spec = Home(tmp_path), spec_with()
    storage = studies.open_storage(spec, home)
    study = studies.open_study(spec, "demo-0000", storage)
    trial = studies.ask(study, storage)  # and the process went on without its sweep
    settled = []
    settle_orphans(study, home, lambda *told: settled.append(told))
    assert not settled
    (left,) = study.trials
    assert (left.state, left.user_attrs["grpo_ops.ending"]) == (TrialState.FAIL, "cancelled")
    requeue(study, spec.retries)
    assert claim_continuation(study, storage).user_attrs["run_key"] == trial.user_attrs["run_key"]


def test_a_decision_is_noted_before_the_trial_is_stopped(tmp_path):
    study = optuna.create_study()
    trial, decision = study.ask(), PruneDecision(PruneReason.HOPELESS, 30)
    note_decision(trial, decision)
    assert study.trials[0].user_attrs["grpo_ops.decision"] == decision.as_attribute()
    study.tell(trial, state=TrialState.FAIL)
    note_decision(trial, PruneDecision(PruneReason.DIVERGED, 40))  # another process ended it: its run is stopped anyway
    assert study.trials[0].user_attrs["grpo_ops.decision"] == decision.as_attribute()


def test_a_queued_point_survives_a_kill_right_after_it_was_asked_for(home):
    spec = spec_with("trials=2", 'enqueue=[{"grpo.learning_rate"=5e-4}]')
    storage = studies.open_storage(spec, home)
    study = studies.open_study(spec, "demo-0000", storage)
    for _ in range(2):
        study.ask()  # and killed: no owner, no run_key
        settle_orphans(study, home, lambda *told: None)
    studies.ask(study, storage)  # and killed before it drew its settings
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


def test_a_study_is_done_when_it_is_closed_and_all_its_trials_are_told(tmp_path):
    """So one that was killed right before its end is opened once more, and one that wants more trials goes on."""
    spec = spec_with("trials=2")
    storage = studies.open_storage(spec, Home(tmp_path))
    study = studies.open_study(spec, "demo-0000", storage)
    for _ in range(spec.trials):
        assert studies.study_name(spec, storage) == "demo-0000"
        tell(study, studies.ask(study, storage), Ending.FINISHED, "all steps done", 0.5)
    assert studies.study_name(spec, storage) == "demo-0000"
    study.set_user_attr("grpo_ops.closed", True)
    assert studies.study_name(spec, storage) != "demo-0000"
    assert studies.study_name(spec_with("trials=3"), storage) == "demo-0000"


@pytest.mark.slow
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


@pytest.mark.slow
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
