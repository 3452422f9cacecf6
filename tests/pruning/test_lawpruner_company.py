"""LawPruner among Optuna's own: under every kind of sampler, and wrapped in its patient pruner."""

import importlib.util
import math
import warnings

import optuna
import pytest
from optuna.trial import TrialState

from grpo_ops.pruning import LawPruner

from .conftest import N, make_curve
from .studies import add, stop_of, study_with_finished

STEPS = 20
SAMPLERS = {
    "random": (lambda: optuna.samplers.RandomSampler(seed=0), None),
    "tpe": (lambda: optuna.samplers.TPESampler(seed=0, n_startup_trials=4), None),
    "gp": (lambda: optuna.samplers.GPSampler(seed=0, n_startup_trials=4), "torch"),
    "cma-es": (lambda: optuna.samplers.CmaEsSampler(seed=0, n_startup_trials=4), "cmaes"),
}


def objective(trial):
    """The longer the distance from the best rate, the lower the end; `width` hardly matters."""
    rate, width = trial.suggest_float("rate", 1e-6, 1e-2, log=True), trial.suggest_float("width", 0, 1)
    end = 0.85 - 0.2 * abs(math.log10(rate) + 3) + 0.02 * width
    curve = make_curve(end=end, seed=trial.number, n=STEPS)
    for step, reward in zip(curve.steps, curve.rewards, strict=True):
        trial.report(reward, step)
        if trial.should_prune():
            raise optuna.TrialPruned
    return curve.rewards[-1]


@pytest.mark.parametrize("name", SAMPLERS)
def test_it_prunes_under_every_sampler(name):
    make, needs = SAMPLERS[name]
    if needs and importlib.util.find_spec(needs) is None:
        pytest.skip(f"the sampler needs {needs}, which is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study = optuna.create_study(direction="maximize", sampler=make(), pruner=LawPruner(STEPS))
        study.optimize(objective, n_trials=14)
    states = [trial.state for trial in study.get_trials()]
    assert set(states) == {TrialState.COMPLETE, TrialState.PRUNED}
    assert abs(math.log10(study.best_params["rate"]) + 3) < 1.5


def patient(patience):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        return optuna.pruners.PatientPruner(LawPruner(N), patience=patience)


def test_patience_may_be_wrapped_around_it():
    """It is then asked seldom, and the checks that fell due in between count."""
    study = study_with_finished(LawPruner(N))
    bad = make_curve(end=0.21, tau=5, noise=0.03, seed=1)
    at_once = stop_of(study, bad)
    study.pruner = patient(2)
    assert at_once <= stop_of(study, bad) < N
    study.pruner = patient(N)
    assert stop_of(study, bad) is None


def test_what_another_pruner_pruned_says_nothing_of_its_end():
    study = study_with_finished(optuna.pruners.MedianPruner(n_startup_trials=2), ends=(0.3, 0.35))
    add(study, make_curve(end=0.9, seed=3, upto=30), state=TrialState.PRUNED)
    study.pruner = LawPruner(N)
    assert stop_of(study, make_curve(end=0.45, seed=1)) is None
