"""Budgets: what was spent, by all processes; what does not fit is not started, and the reason is said."""

import pytest

from grpo_ops.errors import SpecError
from grpo_ops.home import Home
from grpo_ops.specs.effort import BudgetSpec
from grpo_ops.sweep import run_sweep
from grpo_ops.sweep.budget import Cost, Meter, Purse
from tests.sweep.helpers import assert_whole, mlflow_runs
from tests.sweep.sweep_process import SCRIPTED, spec_with


def line(kind, time, attempt=0, **fields):
    return {"kind": kind, "time": float(time), "attempt": attempt, **fields}


def test_a_meter_counts_repeated_steps_and_each_attempt_from_its_first_line_to_its_last():
    meter = Meter()
    meter.take([line("start", 100), line("step", 110), line("step", 120)])
    meter.take([line("start", 500, 1), line("step", 530, 1)])
    meter.take(
        [line("evaluation", 540, 1, ask=None, outcomes=[1, 0]), line("evaluation", 550, 1, ask="a", outcomes=[1])]
    )
    assert meter.cost == Cost(steps=3, seconds=70.0, measured=1)


@pytest.mark.parametrize(
    ("budget", "planned", "refused"),
    [
        ({}, 10**9, None),
        ({"steps": 300}, 200, None),
        ({"steps": 299}, 200, "allows 299 steps; 100 are spent, and one more trial may bring 200"),
        ({"hours": 6}, 200, None),
        ({"hours": 5.9}, 200, "allows 5.9 trial-hours; 2 are spent, and one more trial may bring 4"),
        ({"money": 60, "price_per_hour": 10}, 200, None),
        ({"money": 59, "price_per_hour": 10}, 200, "allows 59 of money; 20 are spent, and one more trial may bring 40"),
        ({"steps": 100}, 0, "allows 100 steps; 100 are spent"),
    ],
)
def test_a_trial_starts_only_where_it_fits_in_full(budget, planned, refused):
    runs = {"a": Meter(steps=60, earlier=3600.0), "b": Meter(steps=40, earlier=3600.0)}
    said = Purse(BudgetSpec(**budget), runs).refusal(planned)
    assert said is None if refused is None else refused in said


def test_before_the_first_step_nothing_is_known_of_time():
    assert Purse(BudgetSpec(hours=0.001)).refusal(10**6) is None
    assert Purse(BudgetSpec(steps=10)).refusal(11) is not None


def test_money_needs_a_price():
    with pytest.raises(SpecError, match=r"budget: money = 5 needs price_per_hour"):
        spec_with("budget={money=5}")


def test_a_budget_ends_a_study_which_goes_on_when_it_is_raised(tmp_path):
    home = Home(tmp_path / "home")
    settings = ("trials=4", "pruner.name=none")
    for steps, told in ((150, 2), (150, 2), (200, 3)):
        board = run_sweep(spec_with(*settings, f"budget={{steps={steps}}}"), home, launcher=SCRIPTED)
        assert board.told == told
        assert board.note == (
            f"ended early: its budget allows {steps} steps; {60 * told} are spent, and one more trial may bring 60"
        )
        parent = mlflow_runs(home)[board.study]
        assert parent.data.metrics["cost/steps"] == 60 * told
        assert parent.data.metrics["cost/trial_hours"] > 0
        assert board.note in parent.data.tags["mlflow.note.content"]
    spec = spec_with(*settings, "budget={steps=240}")
    again = run_sweep(spec, home, launcher=SCRIPTED)
    assert (again.study, again.told, again.note) == (board.study, 4, "")
    assert_whole(home, spec)


def test_repeats_that_do_not_fit_come_when_the_budget_is_raised(tmp_path):
    home = Home(tmp_path / "home")
    points = 'enqueue=[{"grpo.learning_rate"=9e-4}, {"grpo.learning_rate"=9e-4}]'
    settings = ("trials=2", "repeats=2", "pruner.name=none", "run.grpo.max_steps=20", points)
    board = run_sweep(spec_with(*settings, "budget={steps=50}"), home, launcher=SCRIPTED)
    assert (board.told, board.repeats) == (2, 0)
    assert board.note.startswith("ended early: its budget allows 50 steps")
    again = run_sweep(spec_with(*settings, "budget={steps=80}"), home, launcher=SCRIPTED)
    assert (again.study, again.repeats, again.note) == (board.study, 2, "")


def test_a_run_that_was_begun_is_finished_whatever_the_budget_says(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAINER_MOOD", "crash:33")
    spec = spec_with("trials=3", "parallel=1", "pruner.name=none", "budget={steps=70}")
    board = run_sweep(spec, Home(tmp_path / "home"), launcher=SCRIPTED)
    assert [(row.state, row.attempt, row.step) for row in board.rows] == [("finished", 1, 60)]
    assert "ended early" in board.note
