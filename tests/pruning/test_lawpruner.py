"""LawPruner in a study: what it stops and spares, what it says, what it refuses."""

import logging

import optuna
import pytest
from optuna.trial import TrialState, create_trial

import grpo_ops
from grpo_ops.errors import LawError
from grpo_ops.pruning import DECISION_ATTRIBUTE, LawPruner, TrialView, decide

from .conftest import N, make_curve
from .studies import ENDS, add, decision_of, sign_of, stop_of, study_with_finished


@pytest.mark.parametrize("seed", range(6))
def test_it_decides_as_the_judge_does_who_is_asked_after_each_report(seed):
    others = [
        TrialView(f"trial {index}", make_curve(end=end, seed=9), state="finished") for index, end in enumerate(ENDS)
    ]
    curve = make_curve(end=0.35 + 0.07 * seed, seed=seed, noise=0.04)
    asked = (decide(TrialView("own", curve.head(count)), others) for count in range(1, N + 1))
    stop = next((decision.step for decision in asked if decision.stop), None)
    assert stop_of(study_with_finished(LawPruner(N)), curve) == stop


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize("every", [1, 5, 7, 10])
def test_it_stops_the_hopeless_and_spares_the_best_at_any_spacing(direction, every):
    sign = sign_of(direction)
    study = study_with_finished(LawPruner(N), direction, every=every)
    bad, good = make_curve(end=0.25, seed=1, sign=sign), make_curve(end=0.9, seed=1, sign=sign)
    assert stop_of(study, bad, every) in range(10, 41)
    assert stop_of(study, good, every) is None


def test_the_decision_is_kept_with_its_reason_and_asked_again_it_is_the_same():
    study = study_with_finished(LawPruner(N))
    trial, curve = study.ask(), make_curve(end=0.25, seed=1)
    answers = []
    for step, reward in zip(curve.steps[:20], curve.rewards, strict=False):
        trial.report(reward, step)
        answers.append((trial.should_prune(), trial.should_prune()))
    assert all(first == second for first, second in answers)
    assert any(first for first, _ in answers)
    kept = decision_of(study)
    assert kept == trial.user_attrs[DECISION_ATTRIBUTE]
    assert kept["step"] in (10, 15, 20) and kept["incumbent_key"] == "trial 2"
    assert {"reason", "stop", "forecast", "margin", "numbers"} <= set(kept)


def test_failed_waiting_and_pruned_trials_and_those_without_values_are_no_incumbents():
    study = optuna.create_study(direction="maximize", pruner=LawPruner(N))
    study.enqueue_trial({})
    add(study, make_curve(seed=9), state=TrialState.FAIL)
    study.add_trial(create_trial(value=1.0))
    waiting = study.ask()  # takes the enqueued one
    study.tell(waiting, state=TrialState.FAIL)
    assert stop_of(study, make_curve(end=0.25, seed=1)) is None


def test_a_trial_alone_is_never_hopeless():
    study = optuna.create_study(direction="maximize", pruner=LawPruner(N))
    assert stop_of(study, make_curve(end=0.21, seed=1)) is None


def test_only_the_last_attempt_of_a_run_counts():
    """A good first attempt that was continued and got worse is not the bar; nor is a trial's own earlier attempt."""
    study = optuna.create_study(direction="maximize", pruner=LawPruner(N))
    add(study, make_curve(end=0.9, seed=9), run_key="a")
    add(study, make_curve(end=0.3, seed=9), run_key="a", continues=0)
    assert stop_of(study, make_curve(end=0.4, seed=1), run_key="b") is None
    add(study, make_curve(end=0.9, seed=9), run_key="c")
    assert stop_of(study, make_curve(end=0.4, seed=1), run_key="c") is None
    assert stop_of(study, make_curve(end=0.25, seed=2), run_key="d") is not None


def test_a_trial_that_continues_another_replaces_it_without_a_run_key():
    study = optuna.create_study(direction="maximize", pruner=LawPruner(N))
    add(study, make_curve(end=0.9, seed=9))
    assert stop_of(study, make_curve(end=0.4, seed=1), continues=0) is None


def test_a_collapse_is_stopped_without_any_other_trial():
    study = optuna.create_study(direction="maximize", pruner=LawPruner(N))
    curve = make_curve(tau=0.06)
    fallen = type(curve)(
        curve.steps,
        tuple(r if s < 40 else 0.05 + 0.1 * (r - 0.8) for s, r in zip(curve.steps, curve.rewards, strict=True)),
        N,
    )
    assert stop_of(study, fallen) in range(45, 71)
    assert stop_of(optuna.create_study(direction="maximize", pruner=LawPruner(N, collapse=False)), fallen) is None


def test_several_objectives_are_refused_in_one_sentence_with_the_way_out():
    """Optuna's own trial.report refuses them, too: nobody gets here but by calling the pruner."""
    study = optuna.create_study(directions=["maximize", "minimize"], pruner=LawPruner(N))
    with pytest.raises(NotImplementedError, match="multi-objective"):
        study.ask().report(0.5, 1)
    sentence = r"needs a study with one objective but this one has 2; optimise one of them, or use .*NopPruner\(\)"
    for ask in (
        lambda: LawPruner(N).prune(study, create_trial(values=[1.0, 2.0])),
        lambda: LawPruner(N).explain(study),
    ):
        with pytest.raises(LawError, match=sentence):
            ask()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_steps": 0}, "max_steps must be at least 1 but got 0"),
        ({"max_steps": 99.5}, "max_steps must be a whole number of steps but got 99.5"),
        ({"max_steps": "100"}, "max_steps must be a whole number of steps but got '100'"),
        ({"max_steps": N, "caution": -1}, "caution cannot be negative but got -1"),
        ({"max_steps": N, "caution": float("nan")}, "caution cannot be negative but got nan"),
        ({"max_steps": N, "min_steps": 0}, "min_steps must be at least 1 but got 0"),
        ({"max_steps": N, "min_steps": 300}, "min_steps 300 is beyond max_steps 100, so no trial would ever be pruned"),
    ],
)
def test_settings_outside_their_domain_are_refused(arguments, message):
    with pytest.raises(LawError, match=message):
        LawPruner(**arguments)


def test_a_trial_that_was_ended_elsewhere_still_gets_its_answer(caplog):
    study = study_with_finished(LawPruner(N))
    add(study, make_curve(end=0.25, seed=1, upto=20), state=TrialState.PRUNED)
    ended = study.get_trials()[-1]
    with caplog.at_level(logging.WARNING):
        assert LawPruner(N).prune(study, ended)
    assert "could not be stored" in caplog.text


def test_it_is_at_the_top_of_the_package():
    assert grpo_ops.LawPruner is LawPruner
