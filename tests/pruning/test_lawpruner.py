import logging
import math
import pickle
import random

import optuna
import pytest
from optuna.trial import TrialState, create_trial

import grpo_ops
from grpo_ops.errors import LawError
from grpo_ops.pruning import DECISION_ATTRIBUTE, LawPruner

from .conftest import make_curve

optuna.logging.set_verbosity(optuna.logging.WARNING)
N = 100
ENDS = (0.6, 0.7, 0.8)


def study_with_finished(pruner: LawPruner, direction: str = "maximize", ends=ENDS, every: int = 1) -> optuna.Study:
    study = optuna.create_study(direction=direction, pruner=pruner)
    sign = 1.0 if direction == "maximize" else -1.0
    for end in ends:
        add(study, make_curve(end=end, seed=9, sign=sign), every)
    return study


def add(study: optuna.Study, curve, every: int = 1, state=TrialState.COMPLETE, **attributes) -> None:
    values = {step: reward for step, reward in zip(curve.steps, curve.rewards, strict=True) if step % every == 0}
    value = curve.rewards[-1] if state == TrialState.COMPLETE else None
    study.add_trial(create_trial(state=state, value=value, intermediate_values=values, user_attrs=attributes))


def stop_of(study: optuna.Study, curve, every: int = 1, ask_every: int = 1, **attributes) -> int | None:
    """The step at which a trial that shows `curve` is told to stop."""
    trial = study.ask()
    for name, value in attributes.items():
        trial.set_user_attr(name, value)
    for step, reward in zip(curve.steps, curve.rewards, strict=True):
        if step % every == 0:
            trial.report(reward, step)
            if step % ask_every == 0 and trial.should_prune():
                study.tell(trial, state=TrialState.PRUNED)
                return step
    study.tell(trial, curve.rewards[-1])
    return None


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize("every", [1, 5, 7, 10])
def test_it_stops_the_hopeless_and_spares_the_best_at_any_spacing(direction, every):
    sign = 1.0 if direction == "maximize" else -1.0
    study = study_with_finished(LawPruner(N), direction, every=every)
    bad, good = make_curve(end=0.25, seed=1, sign=sign), make_curve(end=0.9, seed=1, sign=sign)
    assert stop_of(study, bad, every) in range(10, 41)
    assert stop_of(study, good, every) is None


def test_whoever_asks_seldom_is_answered_all_the_same():
    study = study_with_finished(LawPruner(N))
    assert stop_of(study, make_curve(end=0.25, seed=1), ask_every=17) in (17, 34)


def test_the_decision_is_kept_with_its_reason_and_asked_again_it_is_the_same():
    study = study_with_finished(LawPruner(N))
    trial, curve = study.ask(), make_curve(end=0.25, seed=1)
    answers = []
    for step, reward in zip(curve.steps[:20], curve.rewards, strict=False):
        trial.report(reward, step)
        answers.append((trial.should_prune(), trial.should_prune()))
    assert all(first == second for first, second in answers)
    kept = study.get_trials()[-1].user_attrs[DECISION_ATTRIBUTE]
    assert kept["step"] in (10, 15, 20) and kept["incumbent_key"] == "trial 2"
    assert {"reason", "stop", "forecast", "margin", "numbers"} <= set(kept)


def test_decisions_do_not_depend_on_the_pruners_memory():
    one, other = study_with_finished(LawPruner(N)), study_with_finished(LawPruner(N))
    for seed in range(6):
        curve = make_curve(end=0.3 + 0.08 * seed, seed=seed, noise=0.05)
        kept = stop_of(one, curve)
        other.pruner = LawPruner(N)
        assert stop_of(other, curve) == kept


def test_values_that_are_not_finite_are_as_if_they_had_not_been_reported():
    def trial_of(values: dict[int, float]) -> list[bool]:
        study = study_with_finished(LawPruner(N))
        trial = study.ask()
        answers = []
        for step, value in values.items():
            trial.report(value, step)
            answers.append(trial.should_prune())
        return answers

    curve = make_curve(end=0.25, seed=1, upto=40)
    clean = dict(zip(curve.steps, curve.rewards, strict=True))
    holes = {
        step: (math.nan if step in (3, 12, 13) else math.inf if step == 7 else value) for step, value in clean.items()
    }
    without = {step: value for step, value in holes.items() if math.isfinite(value)}
    assert True in trial_of(holes)
    stops = [[*values][trial_of(values).index(True)] for values in (holes, without)]
    assert stops[0] == stops[1]
    assert not any(trial_of(dict.fromkeys(range(1, 60), math.nan)))


def test_unsorted_reports_are_read_in_order():
    study = study_with_finished(LawPruner(N))
    curve, trial = make_curve(end=0.25, seed=1), study.ask()
    order = [*range(60)]
    random.Random(0).shuffle(order)
    for index in order:
        trial.report(curve.rewards[index], curve.steps[index])
    assert trial.should_prune()


def test_min_steps_is_the_first_check():
    assert stop_of(study_with_finished(LawPruner(N, min_steps=33)), make_curve(end=0.25, seed=1)) == 33
    assert stop_of(study_with_finished(LawPruner(N, min_steps=N + 1)), make_curve(end=0.25, seed=1)) is None


def test_failed_waiting_and_pruned_trials_and_those_without_values_are_no_incumbents():
    study = optuna.create_study(direction="maximize", pruner=LawPruner(N))
    study.enqueue_trial({})
    add(study, make_curve(seed=9), state=TrialState.FAIL)
    study.add_trial(create_trial(value=1.0))
    waiting = study.ask()  # takes the enqueued one
    study.tell(waiting, state=TrialState.FAIL)
    assert stop_of(study, make_curve(end=0.25, seed=1)) is None


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


def test_several_objectives_are_refused_in_one_sentence():
    study = optuna.create_study(directions=["maximize", "minimize"])
    with pytest.raises(LawError, match="needs a study with one objective but this one has 2"):
        LawPruner(N).prune(study, create_trial(values=[1.0, 2.0]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_steps": 0}, "max_steps must be at least 1 but got 0"),
        ({"max_steps": N, "caution": -1}, "caution cannot be negative but got -1"),
        ({"max_steps": N, "min_steps": 0}, "min_steps must be at least 1 but got 0"),
    ],
)
def test_settings_outside_their_domain_are_refused(arguments, message):
    with pytest.raises(LawError, match=message):
        LawPruner(**arguments)


def test_a_trial_that_was_ended_elsewhere_still_gets_its_answer(caplog):
    study = study_with_finished(LawPruner(N))
    curve = make_curve(end=0.25, seed=1, upto=20)
    add(study, curve, state=TrialState.PRUNED)
    ended = study.get_trials()[-1]
    with caplog.at_level(logging.WARNING):
        assert LawPruner(N).prune(study, ended)
    assert "could not be stored" in caplog.text


def test_broken_attributes_of_others_are_ignored():
    study = study_with_finished(LawPruner(N))
    assert stop_of(study, make_curve(end=0.25, seed=1), **{DECISION_ATTRIBUTE: "not ours"}) is not None


@pytest.mark.parametrize("storage", ["memory", "sqlite", "journal"])
def test_it_works_under_optimize_in_every_storage(storage, tmp_path):
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    stores = {
        "memory": lambda: None,
        "sqlite": lambda: f"sqlite:///{tmp_path / 'study.db'}",
        "journal": lambda: JournalStorage(JournalFileBackend(str(tmp_path / "journal.log"))),
    }

    def objective(trial: optuna.Trial) -> float:
        curve = make_curve(end=trial.suggest_float("end", 0.2, 0.9), seed=trial.number, n=20)
        for step, reward in zip(curve.steps, curve.rewards, strict=True):
            trial.report(reward, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return curve.rewards[-1]

    sampler = optuna.samplers.RandomSampler(seed=0)
    study = optuna.create_study(storage=stores[storage](), direction="maximize", pruner=LawPruner(20), sampler=sampler)
    study.optimize(objective, n_trials=12, n_jobs=2 if storage == "memory" else 1)
    pruned = [trial for trial in study.get_trials() if trial.state == TrialState.PRUNED]
    ends = [trial.params["end"] for trial in study.get_trials()]
    assert len(pruned) >= 2
    assert study.best_trial.params["end"] > max(ends) - 0.1
    assert all(trial.user_attrs[DECISION_ATTRIBUTE]["stop"] for trial in pruned)


def test_patience_may_be_wrapped_around_it():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        patient = optuna.pruners.PatientPruner(LawPruner(N), patience=2)
    study = study_with_finished(LawPruner(N))
    study.pruner = patient
    assert stop_of(study, make_curve(end=0.21, tau=5, noise=0.03, seed=1)) is not None


def test_it_survives_pickling_without_its_cache():
    pruner = LawPruner(N, caution=0.8)
    study = study_with_finished(pruner)
    stop_of(study, make_curve(end=0.25, seed=1))
    study.pruner = pickle.loads(pickle.dumps(pruner))
    assert stop_of(study, make_curve(end=0.25, seed=1)) is not None


def test_it_is_at_the_top_of_the_package():
    assert grpo_ops.LawPruner is LawPruner
