"""No state outside the study: a pruner that is lost and made again decides the same; what it keeps there is small."""

import json
import pickle

import optuna
import pytest
from optuna.storages import InMemoryStorage
from optuna.trial import Trial

from grpo_ops.pruning import DECISION_ATTRIBUTE, LawPruner

from .conftest import N, make_curve
from .studies import add, answers_of, decision_of, decisions_of, shown, stop_of, study_with_finished

CURVES = [{"end": 0.3 + 0.08 * seed, "seed": seed, "noise": 0.05} for seed in range(6)]


def test_decisions_do_not_depend_on_the_pruners_memory():
    one, other = study_with_finished(LawPruner(N)), study_with_finished(LawPruner(N))
    for curve in CURVES:
        kept = stop_of(one, make_curve(**curve))
        other.pruner = LawPruner(N)
        assert stop_of(other, make_curve(**curve)) == kept


@pytest.mark.parametrize("curve", CURVES[1::3])
def test_a_process_that_starts_anew_after_each_report_decides_the_same(curve, tmp_path):
    values = shown(make_curve(**curve), 4)
    kept = decisions_of(study_with_finished(LawPruner(N), every=4), values)

    url = f"sqlite:///{tmp_path / 'study.db'}"
    study = study_with_finished(LawPruner(N), every=4, storage=url)
    trial_id, found = study.ask()._trial_id, []
    for step, value in values.items():
        study = optuna.load_study(study_name=study.study_name, storage=url, pruner=LawPruner(N))
        trial = Trial(study, trial_id)
        trial.report(value, step)
        assert trial.should_prune() == Trial(study, trial_id).should_prune()
        last = study.get_trials()[-1].user_attrs.get(DECISION_ATTRIBUTE)
        if last is not None and last not in found:
            found.append(last)
    assert found == kept


def test_it_survives_pickling_without_its_cache():
    pruner = LawPruner(N, caution=0.8)
    study = study_with_finished(pruner)
    empty = len(pickle.dumps(pruner))
    stop_of(study, make_curve(end=0.25, seed=1))
    assert len(pickle.dumps(pruner)) == empty
    study.pruner = pickle.loads(pickle.dumps(pruner))
    assert stop_of(study, make_curve(end=0.25, seed=1)) is not None


def test_one_pruner_may_serve_several_studies():
    """Trials of different storages have the same ids."""
    pruner = LawPruner(N)
    good, bad = study_with_finished(pruner), study_with_finished(pruner, ends=(0.22, 0.23, 0.24))
    curve = make_curve(end=0.4, seed=1)
    assert stop_of(good, curve) is not None
    assert stop_of(bad, curve) is None
    assert stop_of(good, curve) is not None


class CountingStorage(InMemoryStorage):
    reads = 0

    def get_all_trials(self, *arguments, **options):
        self.reads += 1
        return super().get_all_trials(*arguments, **options)


def test_the_study_is_read_at_checks_alone():
    storage = CountingStorage()
    study = study_with_finished(LawPruner(N), storage=storage)
    before = storage.reads
    decisions = decisions_of(study, shown(make_curve(end=0.95, seed=1)))
    assert 0 < storage.reads - before <= len(decisions) + 1


def test_a_retry_is_not_bound_by_the_decisions_that_it_inherited():
    """Optuna's retry callbacks hand on user attributes; the new trial begins again at step 1."""
    study = study_with_finished(LawPruner(N))
    bad = make_curve(end=0.25, seed=1)
    stop = stop_of(study, bad)
    inherited = {DECISION_ATTRIBUTE: decision_of(study)}
    assert inherited[DECISION_ATTRIBUTE]["stop"]
    study.enqueue_trial({}, user_attrs=inherited)
    assert stop_of(study, make_curve(end=0.95, seed=1)) is None
    study.enqueue_trial({}, user_attrs=inherited)
    assert stop_of(study, bad) == stop


@pytest.mark.parametrize("broken", ["not ours", {"step": 10}, {"stop": True, "step": "10"}, 3, None])
def test_broken_attributes_are_ignored(broken):
    study = study_with_finished(LawPruner(N))
    assert stop_of(study, make_curve(end=0.25, seed=1), **{DECISION_ATTRIBUTE: broken}) is not None


@pytest.mark.parametrize("scale", [1.0, -1.23456789e59, 9.87654321e-250, 1.23456789e20, -7.7e-20, 0.0])
def test_each_decision_is_below_1_kb_and_json(scale):
    direction = "maximize" if scale >= 0 else "minimize"
    study = optuna.create_study(direction=direction, pruner=LawPruner(10**9 + 7, min_steps=1))
    for end in (0.6, 0.7, 0.8):
        add(
            study,
            scaled(make_curve(end=end, seed=9), scale),
            **{"a" * 500: "b" * 5000, "run_key": "c" * 5000 + str(end)},
        )
    for end in (0.1, 0.7, 0.9):
        values = shown(scaled(make_curve(end=end, seed=1), scale))
        answers_of(study, values)
        text = json.dumps(decision_of(study), allow_nan=False)
        assert len(text.encode()) < 1000


def scaled(curve, scale):
    steps = tuple(step * 10_000_000 for step in curve.steps)
    return type(curve)(steps, tuple(scale * reward for reward in curve.rewards), 10**9 + 7)
