"""LawPruner.explain: how many trials were pruned and why, or why none was."""

import optuna
import pytest
from optuna.trial import TrialState

from grpo_ops.pruning import LawPruner

from .conftest import N, make_curve
from .studies import add, shown, stop_of, study_with_finished


def unasked(study):
    trial = study.ask()
    for step, reward in shown(make_curve(seed=3)).items():
        trial.report(reward, step)
    study.tell(trial, 0.8)


def unreported(study):
    study.tell(study.ask(), 0.8)


def too_short(study):
    stop_of(study, make_curve(seed=3, upto=5))


def judged(study):
    for seed in range(3):
        stop_of(study, make_curve(end=0.8 + 0.05 * seed, seed=seed))


@pytest.mark.parametrize(
    ("happen", "words"),
    [
        (lambda study: None, "0 of 0 trials pruned: no trial has begun"),
        (lambda study: study.enqueue_trial({}), "0 of 0 trials pruned: no trial has begun"),
        (unreported, "0 of 1 trials pruned: none has reported a value; call trial.report(value, step)"),
        (too_short, "0 of 1 trials pruned: the first check is at step 10, but no trial has reported a step beyond 5"),
        (unasked, "0 of 1 trials pruned: none asked trial.should_prune() at step 10 or later"),
        (judged, "0 of 3 trials pruned: of 3 that were judged, "),
    ],
)
def test_why_none_was_pruned(happen, words):
    study = optuna.create_study(direction="maximize", pruner=LawPruner(N))
    happen(study)
    said = study.pruner.explain(study)
    assert said.startswith(words)
    assert len(said) < 200


def test_b23_a_first_check_that_no_trial_reaches_is_named():
    pruner = LawPruner(1000, min_steps=300)
    study = study_with_finished(pruner)
    for seed in range(3):
        stop_of(study, make_curve(end=0.25, seed=seed))
    assert pruner.explain(study) == (
        "0 of 6 trials pruned: the first check is at step 300, but no trial has reported a step beyond 100"
    )


def test_those_that_were_pruned_are_counted_by_reason():
    pruner = LawPruner(N)
    study = study_with_finished(pruner)
    for seed in range(3):
        stop_of(study, make_curve(end=0.25, seed=seed))
    add(study, make_curve(seed=5, upto=20), state=TrialState.PRUNED)
    assert pruner.explain(study) == "4 of 7 trials pruned: 3 hopeless, 1 by somebody else"
