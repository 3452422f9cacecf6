"""What trials report: any spacing, any order, holes, values that are not finite, other lengths, the other direction."""

import math
import random

import pytest
from optuna.trial import TrialState

from grpo_ops.pruning import LawPruner, PruneRule

from .conftest import N, make_curve
from .studies import add, answers_of, decisions_of, shown, stop_of, study_with_finished

LEADING = {"end": 0.95, "seed": 1}


def checks_of(pruner: LawPruner, values: dict[int, float]) -> list[int]:
    """Steps at which a trial with `values` is judged; reports begin late enough for three points at the first."""
    return [decision["step"] for decision in decisions_of(study_with_finished(pruner), values)]


def first_reports_at(shares, steps):
    return sorted({min(step for step in steps if step >= share * N - 1e-9) for share in shares})


@pytest.mark.parametrize("every", [1, 2, 3])
def test_a_trial_is_judged_at_the_first_report_at_or_after_each_check(every):
    values = shown(make_curve(**LEADING), every)
    expected = first_reports_at(PruneRule().checks, values)
    found = checks_of(LawPruner(N), values)
    assert found[0] == expected[0]
    assert len(found) == len(expected)
    assert all(abs(one - other) <= every for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("every", [1, 3, 4, 7, 11])
@pytest.mark.parametrize("min_steps", [22, 33, 50])
def test_the_first_check_is_the_first_report_from_min_steps_on(every, min_steps):
    values = shown(make_curve(**LEADING), every)
    first = next(step for step in values if step >= min_steps)
    found = decisions_of(study_with_finished(LawPruner(N, min_steps=min_steps), every=every), values)
    judged = [decision["step"] for decision in found if decision["reason"] != "too_few_points"]
    assert judged[0] == (first if len(shown(make_curve(upto=first), every)) >= 3 else first + every)


@pytest.mark.parametrize(("max_steps", "first"), [(100, 10), (95, 10), (91, 10), (50, 5)])
def test_by_default_the_first_check_is_at_a_tenth(max_steps, first):
    values = dict(enumerate(make_curve(n=max_steps, **LEADING).rewards))  # from step 0
    assert checks_of(LawPruner(max_steps), values)[0] == first


def test_min_steps_at_the_end_prunes_no_sooner():
    assert stop_of(study_with_finished(LawPruner(N, min_steps=33)), make_curve(end=0.25, seed=1)) == 33
    assert stop_of(study_with_finished(LawPruner(N, min_steps=N)), make_curve(end=0.25, seed=1)) in (None, N)


def test_whoever_asks_seldom_is_answered_all_the_same():
    study = study_with_finished(LawPruner(N))
    assert stop_of(study, make_curve(end=0.25, seed=1), ask_every=17) in (17, 34)


def test_steps_may_be_left_out():
    """A trial that says nothing for a third of the run is judged when it speaks again."""
    values = shown(make_curve(end=0.25, seed=1))
    holes = {step: value for step, value in values.items() if not 8 < step < 40}
    answers = dict(zip(holes, answers_of(study_with_finished(LawPruner(N)), holes), strict=True))
    assert not any(answer for step, answer in answers.items() if step < 40)
    assert answers[40]


@pytest.mark.parametrize("seed", range(3))
def test_unsorted_reports_are_read_in_order(seed):
    curve = make_curve(end=0.25, seed=1)
    order = [*range(60)]
    random.Random(seed).shuffle(order)
    study = study_with_finished(LawPruner(N))
    trial = study.ask()
    for index in order:
        trial.report(curve.rewards[index], curve.steps[index])
    assert trial.should_prune()


def test_of_a_step_reported_twice_the_first_value_counts():
    """As Optuna has it, which warns."""
    study = study_with_finished(LawPruner(N))
    trial, answers = study.ask(), []
    for step, value in shown(make_curve(end=0.25, seed=1, upto=40)).items():
        trial.report(value, step)
        with pytest.warns(UserWarning, match="already reported"):
            trial.report(0.95, step)
        answers.append(trial.should_prune())
    assert True in answers


def test_values_that_are_not_finite_are_as_if_they_had_not_been_reported():
    clean = shown(make_curve(end=0.25, seed=1, upto=40))
    hostile = {3: math.nan, 7: math.inf, 12: math.nan, 13: -math.inf}
    without = {step: value for step, value in clean.items() if step not in hostile}
    stops = []
    for values in (clean | hostile, without):
        answers = answers_of(study_with_finished(LawPruner(N)), values)
        stops.append([*values][answers.index(True)])
    assert stops[0] == stops[1]


@pytest.mark.parametrize("nothing", [math.nan, math.inf, -math.inf])
def test_a_trial_that_reports_nothing_finite_goes_on_and_is_no_incumbent(nothing):
    study = study_with_finished(LawPruner(N), ends=())
    assert not any(answers_of(study, dict.fromkeys(range(1, N + 1), nothing)))
    study.tell(0, 0.9)
    assert stop_of(study, make_curve(end=0.25, seed=1)) is None


def test_values_that_no_law_can_square_are_skipped_too():
    study = study_with_finished(LawPruner(N))
    huge = {step: -value * 1e300 for step, value in shown(make_curve(**LEADING)).items()}
    assert not any(answers_of(study, huge))
    study.tell(len(study.trials) - 1, 1e300)
    assert stop_of(study, make_curve(end=0.95, seed=1)) is None


@pytest.mark.parametrize("length", [40, 70, 150])
def test_finished_trials_of_another_length_count_with_what_they_reached(length):
    """One that ended by its own early stopping, or ran longer than planned, still sets the bar."""
    study = study_with_finished(LawPruner(N), ends=())
    curve = make_curve(end=0.8, seed=9, n=150 if length > N else N, tau=0.1)
    add(study, curve.head(length))
    assert stop_of(study, make_curve(end=0.25, seed=1)) is not None
    assert stop_of(study, make_curve(end=0.9, seed=1, tau=0.1)) is None


def test_a_trial_may_run_on_beyond_max_steps():
    study = study_with_finished(LawPruner(50), n=50)
    assert stop_of(study, make_curve(end=0.9, seed=1, n=N, tau=0.15)) is None


@pytest.mark.parametrize("seed", range(8))
def test_a_mirrored_study_decides_the_same(seed):
    found = []
    for direction, sign in (("maximize", 1.0), ("minimize", -1.0)):
        study = study_with_finished(LawPruner(N), direction)
        add(study, make_curve(end=0.75, seed=seed + 50, sign=sign, upto=60), state=TrialState.PRUNED)
        values = shown(make_curve(end=0.3 + 0.06 * seed, seed=seed, noise=0.05, sign=sign))
        found.append([summarised(decision, sign) for decision in decisions_of(study, values)])
    assert found[0] == found[1]
    assert found[0]


def summarised(decision, sign):
    margin, forecast = decision["margin"], decision["forecast"]
    mean = None if forecast is None else pytest.approx(sign * forecast["mean"], rel=1e-3)
    return decision["step"], decision["reason"], margin and pytest.approx(abs(margin), rel=1e-3), mean
