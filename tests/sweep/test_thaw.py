"""Thawing: a stopped trial goes on as a new attempt of its run; nothing that was known is lost by it."""

from dataclasses import replace

import optuna
import pytest
from optuna.trial import TrialState

from grpo_ops.curve import RewardCurve
from grpo_ops.ending import Ending
from grpo_ops.errors import SweepError
from grpo_ops.home import Home
from grpo_ops.pruning import TrialView
from grpo_ops.sweep import thaw_trial
from grpo_ops.sweep.board import Row
from grpo_ops.sweep.resume import Past
from grpo_ops.sweep.study import open_storage, study_name
from grpo_ops.sweep.thaw import THAWED, chance_to_beat, most_promising, next_to_thaw
from tests.sweep.conftest import STOPPING, run_stopping
from tests.sweep.helpers import NOBODY, assert_whole, load, mlflow_runs
from tests.sweep.sweep_process import SCRIPTED, spec_with

SPEC = spec_with(*STOPPING)


def row(key, ending=Ending.HOPELESS, step=40, forecast=0.5, half=0.1, evaluation=0.4):
    low, high = (None, None) if half is None else (forecast - half, forecast + half)
    values = {"forecast": forecast, "low": low, "high": high, "evaluation": evaluation}
    return Row(key, 0, {}, 100, ending=ending, step=step, **values)


def past(*rows):
    return {found.key: Past(found, TrialView(found.key, RewardCurve())) for found in rows}


def test_the_most_promising_has_the_highest_chance_to_beat_the_best():
    best = row("best", Ending.FINISHED, 100, evaluation=0.7)
    near, sure, wide = row("near", forecast=0.62, half=0.02), row("sure", half=0), row("wide", forecast=0.6, half=0.3)
    assert most_promising([near, sure, wide], [best, near, sure, wide]) is wide
    assert chance_to_beat(row("x", forecast=0.7, half=0.1), 0.7)[0] == pytest.approx(0.5)
    assert chance_to_beat(row("x", forecast=0.8, half=0.1), 0.7)[0] == pytest.approx(0.9)
    assert chance_to_beat(row("x", forecast=0.8, half=None), 0.7)[0] == 1
    assert most_promising([], [best]) is None


def test_the_best_is_known_by_what_was_forecast():
    """By training reward both are above the best, and its evaluation is no measure of them."""
    best = replace(row("best", Ending.FINISHED, 100, evaluation=0.2), reward=0.5)
    sure, wide = row("sure", forecast=0.6, half=0.05), row("wide", forecast=0.7, half=0.5)
    assert most_promising([sure, wide], [best, sure, wide], "reward") is sure
    assert chance_to_beat(sure, 0.5)[0] > chance_to_beat(wide, 0.5)[0]
    assert most_promising([sure, wide], [replace(best, evaluation=0.68), sure, wide]) is wide


@pytest.mark.parametrize(
    ("share", "thawed", "expected"),
    [
        (0.0, {}, None),
        (0.2, {}, None),  # 0.2 of 60 + 60 + 20 + 30 saved are 34: it fits none but "late", which had collapsed
        (0.4, {}, "wide"),
        (0.4, {"wide": [40, "hopeless"]}, None),
        (1.0, {"wide": [40, "hopeless"]}, "low"),
        (0.24, {}, "flat"),
    ],
)
def test_what_is_thawed_fits_into_the_share_of_what_was_saved(share, thawed, expected):
    study = optuna.create_study()
    study.set_user_attr(THAWED, thawed)
    runs = past(
        row("best", Ending.FINISHED, 100, evaluation=0.7),
        row("wide", forecast=0.6, half=0.3) if not thawed else row("wide", Ending.FINISHED, 100),
        row("low", forecast=0.5),
        row("late", Ending.DIVERGED, 80, forecast=0.9),
        row("flat", Ending.PLATEAU, 70, forecast=0.3) if share != 0.2 else row("flat", Ending.FINISHED, 100),
    )
    found = next_to_thaw(study, runs, share)
    assert (found and found.row.key) == expected


def test_a_stopped_trial_goes_on_in_its_run(stopped_home):
    before = load(stopped_home)
    trials = before.trials
    stopped = trials[2]
    assert stopped.state is TrialState.PRUNED
    run_id = mlflow_runs(stopped_home)[stopped.user_attrs["run_key"]].info.run_id
    board = thaw_trial(before.study_name, "2", stopped_home, launcher=SCRIPTED)
    assert [(row.state, row.step, row.attempt) for row in board.rows][2] == ("finished", 60, 1)
    assert board.told == 3
    after = load(stopped_home).trials
    assert [trial.state for trial in after[:3]] == [trial.state for trial in trials]
    assert (after[3].state, after[3].params) == (TrialState.COMPLETE, stopped.params)
    assert {name: after[3].user_attrs[name] for name in ("run_key", "attempt", "continues")} == {
        "run_key": stopped.user_attrs["run_key"],
        "attempt": 1,
        "continues": 2,
    }
    run = mlflow_runs(stopped_home)[stopped.user_attrs["run_key"]]
    assert (run.info.run_id, run.info.status) == (run_id, "FINISHED")
    assert_whole(stopped_home, SPEC)
    with pytest.raises(SweepError, match="finished at step 60 of 60: only a stopped one is thawed"):
        thaw_trial(before.study_name, stopped.user_attrs["run_key"], stopped_home, launcher=SCRIPTED)
    with pytest.raises(SweepError, match="was stopped before its last step: nothing to thaw"):
        thaw_trial(before.study_name, None, stopped_home, launcher=SCRIPTED)


def test_a_thaw_that_is_broken_off_goes_on(stopped_home, monkeypatch):
    name = load(stopped_home).study_name

    def interrupt(board):
        if board.rows[-1].step >= 50 and not board.rows[-1].ending:
            raise KeyboardInterrupt

    monkeypatch.setenv("TRAINER_MOOD", "hang:52")
    with pytest.raises(KeyboardInterrupt):
        thaw_trial(name, None, stopped_home, launcher=SCRIPTED, show=interrupt)
    assert load(stopped_home).trials[3].user_attrs["grpo_ops.ending"] == "cancelled"
    monkeypatch.delenv("TRAINER_MOOD")
    board = thaw_trial(name, "2", stopped_home, launcher=SCRIPTED)
    assert (board.rows[2].state, board.rows[2].attempt) == ("finished", 2)
    assert_whole(stopped_home, SPEC)


def test_a_thawed_trial_that_fails_for_good_is_what_it_was(stopped_home):
    name = load(stopped_home).study_name
    board = thaw_trial(name, "2", stopped_home, launcher=NOBODY)
    assert (board.rows[2].state, board.rows[2].step, board.rows[2].attempt) == (
        "hopeless",
        load(stopped_home).trials[2].user_attrs["grpo_ops.steps"][0],
        3,
    )
    assert board.rows[2].reason == "as before it was thawed; thawed, it failed: exit code 1: it said nothing"
    assert_whole(stopped_home, SPEC)


@pytest.mark.parametrize(
    ("study", "trial", "sentence"),
    [
        ("nope-0000", None, "there is no study 'nope-0000' in .*; the newest: demo-"),
        (None, "3", "there is no trial '3' in study demo-....; it has 0 to 2, or run_keys"),
        (None, "0", "finished at step 60 of 60: only a stopped one is thawed"),
    ],
)
def test_what_cannot_be_thawed_is_said(stopped_home, study, trial, sentence):
    with pytest.raises(SweepError, match=sentence):
        thaw_trial(study or load(stopped_home).study_name, trial, stopped_home, launcher=SCRIPTED)


def test_a_study_of_others_is_refused(tmp_path):
    home = Home(tmp_path)
    optuna.create_study(study_name="foreign", storage=home.optuna_url)
    with pytest.raises(SweepError, match="study foreign was not made by grpo-ops"):
        thaw_trial("foreign", None, home)


def test_a_share_of_what_was_saved_thaws_the_most_promising_at_the_end(tmp_path):
    home = Home(tmp_path / "home")
    board = run_stopping(home, "thaw=1.0")
    assert [(row.state, row.step, row.attempt) for row in board.rows] == [
        ("finished", 60, 0),
        ("finished", 60, 0),
        ("finished", 60, 1),
    ]
    assert_whole(home, SPEC)
    spec = spec_with(*STOPPING, "thaw=1.0")
    assert study_name(spec, open_storage(spec, home)) != board.study  # that one is over
