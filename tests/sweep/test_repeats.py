"""Repeats: which points get further seeds; and a whole sweep with all of it, of scripted trainers."""

import json

import optuna
import pytest
from optuna.trial import TrialState

from grpo_ops.cli.board import leaderboard_lines, progress, summary_lines
from grpo_ops.cli.printing import sweep_document
from grpo_ops.curve import Evaluation, RewardCurve
from grpo_ops.ending import Ending
from grpo_ops.home import Home
from grpo_ops.journal import RunFolder
from grpo_ops.pruning import TrialView
from grpo_ops.sweep import leaderboard, run_sweep
from grpo_ops.sweep import study as studies
from grpo_ops.sweep.board import Row, study_note
from grpo_ops.sweep.existing import spec_of
from grpo_ops.sweep.repeats import queue_repeat, winner_of
from grpo_ops.sweep.resume import Past
from tests.processes import wait_until
from tests.sweep.helpers import has_told, start_sweep
from tests.sweep.sweep_process import SCRIPTED, spec_with

PROMPTS = tuple(map(str, range(100)))


def past(key, right, number=0, ending=Ending.FINISHED, repeats_of=None):
    outcomes = tuple(float(index < right) for index in range(100))
    evaluations = (Evaluation(10, outcomes, PROMPTS, "held-out"),)
    row = Row(key, number, {"grpo.learning_rate": 1e-4}, 60, 0, ending, evaluation=right / 100, repeats_of=repeats_of)
    return Past(row, TrialView(key, RewardCurve((10,), (right / 100,), 60), evaluations, "finished"))


@pytest.fixture
def study(tmp_path):
    """A study in which the trials a, b, c and d were asked for."""
    spec = spec_with("trials=4")
    storage = studies.open_storage(spec, Home(tmp_path))
    study = studies.open_study(spec, "demo-0000", storage)
    for key in "abcd":
        study.enqueue_trial({"grpo.learning_rate": 1e-4}, user_attrs={"run_key": key, "attempt": 0})
    return study


def keys(study):
    return [trial.user_attrs["run_key"] for trial in study.trials]


def test_the_winner_and_its_likes_are_repeated_the_fewest_runs_first(study):
    runs = {"a": past("a", 60), "b": past("b", 59, 1), "c": past("c", 20, 2)}
    spec = spec_with("repeats=3")
    made = []
    while key := queue_repeat(study, spec, runs):
        made.append(key)
    assert made == ["a-r1", "b-r1", "a-r2", "b-r2"]
    attributes = study.trials[-1].user_attrs
    assert (attributes["repeats_of"], attributes["repeat"], attributes["attempt"]) == ("b", 2, 0)


def test_no_repeat_where_nothing_is_left_to_tell_apart(study):
    spec = spec_with("repeats=5")
    assert queue_repeat(study, spec, {"a": past("a", 80), "b": past("b", 20, 1)}) is None
    assert queue_repeat(study, spec, {"a": past("a", 80)}) is None
    assert queue_repeat(study, spec, {}) is None
    assert queue_repeat(study, spec_with("repeats=1"), {"a": past("a", 80), "b": past("b", 80, 1)}) is None


def test_a_stopped_run_is_not_repeated(study):
    runs = {"a": past("a", 60), "b": past("b", 60, 1, Ending.HOPELESS)}
    made = [queue_repeat(study, spec_with("repeats=2"), runs) for _ in range(2)]
    assert made == ["a-r1", None]


def test_all_seeds_of_a_point_are_one_entrant():
    runs = [past("a", 70), past("a-r1", 50, 2, repeats_of="a"), past("b", 65, 1)]
    winner = winner_of(runs, "eval_reward")
    assert (winner.key, winner.runs, winner.score, winner.others) == ("b", 1, 0.65, 1)


def test_a_retry_of_a_repeat_stays_one(study):
    queue_repeat(study, spec_with("repeats=2"), {"a": past("a", 60), "b": past("b", 60, 1)})
    studies.queue_retry(study, "a-r1")
    retry = study.trials[-1].user_attrs
    assert (retry["repeats_of"], retry["repeat"], retry["attempt"]) == ("a", 1, 1)
    assert studies.count_told(study) == 0
    assert spec_of(study).trials == 4


EVERYTHING = (
    'space={"grpo.learning_rate"={low=1e-6, high=1e-3, log=true}, "grpo.beta"={choices=[0.0,0.1]},'
    ' "grpo.epsilon_high"={low=0.2, high=0.4, only_if={"grpo.beta"=0.1}},'
    ' "grpo.per_device_train_batch_size"={choices=[8,12,64]}, "grpo.num_generations"={choices=[4,6,16]}}',
    'enqueue=[{"grpo.num_generations"=6, "grpo.learning_rate"=9e-4}, {"grpo.learning_rate"=9.1e-4}]',
    "sampler=tpe",
    "queue=3",
    "repeats=2",
    "trials=4",
    "run.grpo.max_steps=20",
    "pruner.name=none",
)


def check(home, spec, board):
    """Trials as asked for, repeats beside them, every run valid, nothing running or waiting."""
    study = optuna.load_study(study_name=board.study, storage=home.optuna_url)
    assert not [trial for trial in study.trials if trial.state in (TrialState.RUNNING, TrialState.WAITING)]
    asked = [row for row in board.rows if row.repeats_of is None]
    repeats = [row for row in board.rows if row.repeats_of is not None]
    assert len(asked) == spec.trials == board.told
    for row in board.rows:
        run = json.loads(RunFolder(home.runs / row.key).spec.read_text())["spec"]
        grpo = run["grpo"]
        assert grpo["per_device_train_batch_size"] % grpo["num_generations"] == 0
        assert ("grpo.epsilon_high" in row.parameters) == (row.parameters["grpo.beta"] > 0)
        assert run["seed"] == (1 if row.repeats_of else 0)
    assert (
        {row.repeats_of for row in repeats} == {board.winner.key, *board.winner.alike} >= {row.key for row in asked[:2]}
    )
    assert {row.key for row in repeats} == {f"{row.repeats_of}-r1" for row in repeats}
    return study


def test_a_sweep_with_conditions_constraints_queue_and_repeats(tmp_path):
    home, spec, boards = Home(tmp_path / "home"), spec_with(*EVERYTHING), []
    board = run_sweep(spec, home, launcher=SCRIPTED, show=boards.append)
    study = check(home, spec, board)
    first = study.trials[0]
    assert first.params["grpo.num_generations"] == 6
    assert {row.parameters["grpo.learning_rate"] for row in board.rows[:2]} == {9e-4, 9.1e-4}
    assert board.winner.runs == 2
    assert any(shown.best and not shown.winner for shown in boards)
    assert boards[-1] == board
    assert board.winner.sentence in study_note(board)
    assert board.winner.doubt in summary_lines(board)
    assert f"{board.repeats} repeats with other seeds" in study_note(board)
    assert sum("repeats_of" in row for row in leaderboard(board)) == board.repeats >= 2
    document = json.loads(json.dumps(sweep_document(board)))
    assert document["winner"]["key"] == board.winner.key
    assert document["winner"]["alike"] == list(board.winner.alike)
    assert any("another seed" in str(getattr(line, "renderable", "")) for line in leaderboard_lines(board))
    assert "best so far: trial " in str(progress(board).renderables[1])


def test_a_killed_sweep_goes_on_with_its_queue_and_repeats(tmp_path):
    home, spec = Home(tmp_path / "home"), spec_with(*EVERYTHING)
    process = start_sweep(home, *EVERYTHING, mood="slow:0.1")
    wait_until(lambda: has_told(home, 3), process=process)
    process.kill()
    process.wait()
    check(home, spec, run_sweep(spec, home, launcher=SCRIPTED))


@pytest.mark.parametrize(
    ("pruner", "name"),
    [
        ("{name='sha', options={min_resource=5, reduction_factor=2}}", "SuccessiveHalvingPruner"),
        pytest.param(
            "{name='percentile', options={percentile=25.0, n_startup_trials=1}}",
            "PercentilePruner",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_optunas_own_pruners_stop_trials_and_are_named(tmp_path, monkeypatch, pruner, name):
    queue = 'enqueue=[{"grpo.learning_rate"=9e-4}, {"grpo.learning_rate"=1e-6}, {"grpo.learning_rate"=2e-6}]'
    spec = spec_with(f"pruner={pruner}", "parallel=1", "trials=3", "run.grpo.max_steps=40", queue)
    monkeypatch.setenv("TRAINER_MOOD", "slow:0.05")
    board = run_sweep(spec, Home(tmp_path / "home"), launcher=SCRIPTED)
    assert any(row.ending is Ending.HOPELESS and name in row.reason for row in board.rows)
