"""Rows B1 to B25 of the field notes (reports of Optuna's users): each has a test, here or where the table says.

B22, a dashboard on the study's database, is left to the tests of the local servers.
"""

import ast
import json
import re
from pathlib import Path

import numpy as np
import optuna
import pytest
from optuna.storages import RetryHeartbeatStaleTrialCallback
from optuna.trial import TrialState

from grpo_ops.pruning import DECISION_ATTRIBUTE, LawPruner

from .conftest import N, make_curve
from .field_rows import ROWS
from .studies import add, answers_of, decision_of, shown, stop_of, study_with_finished
from .study_worker import STUDY, storage_of, work

ROOT = Path(__file__).parents[2]


def test_each_row_has_its_tests_and_each_of_them_exists():
    assert list(ROWS) == [f"B{number}" for number in range(1, 26) if number != 22]
    for node in {node for nodes in ROWS.values() for node in nodes}:
        path, _, name = node.partition("::")
        tree = ast.parse((ROOT / path).read_text())
        assert name in {item.name for item in tree.body if isinstance(item, ast.FunctionDef)}, node


def test_b3_long_attributes_of_the_users_change_nothing(tmp_path):
    study = study_with_finished(LawPruner(N), storage=f"sqlite:///{tmp_path / 'study.db'}", every=5)
    bad = make_curve(end=0.25, seed=1)
    plain = stop_of(study, bad, every=5)
    long = {"history": [0.1] * 2000, "template": "x" * 10_000}
    assert stop_of(study, bad, every=5, **long) == plain
    assert study.get_trials()[-1].user_attrs.keys() == {*long, DECISION_ATTRIBUTE}
    assert len(json.dumps(decision_of(study))) < 1000


def test_b8_a_retry_that_inherits_its_values_is_judged_by_them():
    study = study_with_finished(LawPruner(N))
    trial = study.ask()
    for step, value in shown(make_curve(end=0.25, seed=1, upto=9)).items():
        trial.report(value, step)
        assert not trial.should_prune()
    study.tell(trial, state=TrialState.FAIL)
    with pytest.warns(optuna.exceptions.ExperimentalWarning):
        retry = RetryHeartbeatStaleTrialCallback(inherit_intermediate_values=True)
    retry(study, study.get_trials()[-1])
    rest = {step: value for step, value in shown(make_curve(end=0.25, seed=1, upto=40)).items() if step > 9}
    answers = answers_of(study, rest)
    assert study.get_trials()[-1].intermediate_values.keys() == set(range(1, 41))
    assert answers.index(True) <= 11


def test_b10_b11_of_optunas_journal_what_is_whole_is_read_and_what_is_broken_is_no_secret(tmp_path):
    path = tmp_path / "journal.log"
    storage = storage_of("journal", str(path))
    optuna.create_study(study_name=STUDY, storage=storage, direction="maximize")
    work(storage, 6, 20)
    before, whole = optuna.load_study(study_name=STUDY, storage=storage).get_trials(), path.read_bytes()

    def read(content):
        path.write_bytes(content)
        study = optuna.load_study(study_name=STUDY, storage=storage_of("journal", str(path)))
        return [trial.user_attrs.get(DECISION_ATTRIBUTE) for trial in study.get_trials()]

    decisions = [trial.user_attrs.get(DECISION_ATTRIBUTE) for trial in before]
    assert read(whole[:-7]) == decisions
    lines = whole.splitlines(keepends=True)
    with pytest.raises(ValueError, match=r"Expecting|Invalid|delimiter"):
        read(b"".join([*lines[:-5], b'{"op": \n', *lines[-5:]]))
    assert read(b"".join(lines)) == decisions


def test_b12_what_is_not_a_number_is_skipped():
    nan = float("nan")
    values = dict(enumerate([nan, nan, 0.3, nan, 0.5], start=10))
    assert not any(answers_of(study_with_finished(LawPruner(N)), values))
    median = study_with_finished(optuna.pruners.MedianPruner(n_startup_trials=1))
    with pytest.warns(RuntimeWarning, match="All-NaN"):  # what Optuna's own does
        assert any(answers_of(median, dict.fromkeys(range(1, 20), nan)))
    assert not any(answers_of(study_with_finished(LawPruner(N)), dict.fromkeys(range(1, N), nan)))


def test_b13_a_trial_that_is_pruned_after_its_peak_is_not_the_best():
    study = study_with_finished(LawPruner(N), ends=(0.5,))
    rise, fall = make_curve(end=0.9, tau=0.05, seed=2), make_curve(end=0.15, seed=3)
    values = {step: (rise if step < 50 else fall).rewards[step - 1] for step in range(1, N + 1)}
    stop = stop_of(study, type(rise)(tuple(values), tuple(values.values()), N))
    assert stop is not None
    pruned = study.get_trials()[-1]
    assert study.best_trial.number == 0
    assert decision_of(study)["reason"] in ("diverged", "hopeless")
    assert pruned.value < 0.3 < max(pruned.intermediate_values.values())


def test_b14_of_a_study_whose_trials_were_all_pruned_there_are_words():
    study = optuna.create_study(direction="maximize", pruner=LawPruner(N))
    for seed in range(3):
        add(study, make_curve(seed=seed, upto=20), state=TrialState.PRUNED)
    with pytest.raises(ValueError, match="completed"):
        _ = study.best_trial
    assert LawPruner(N).explain(study) == "3 of 3 trials pruned: 3 by somebody else"
    assert stop_of(study, make_curve(end=0.25, seed=4)) is None  # the bar is set by those that ended alone


def test_b16_a_study_of_several_objectives_runs_with_the_pruner_unasked():
    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        if trial.number % 3 == 0:
            raise optuna.TrialPruned
        return x, 1 - x

    study = optuna.create_study(directions=["maximize", "minimize"], pruner=LawPruner(N))
    study.optimize(objective, n_trials=20)
    assert [trial.state for trial in study.get_trials()].count(TrialState.PRUNED) == 7


@pytest.mark.parametrize("seed", range(3))
def test_b18_noise_neither_saves_all_nor_prunes_all(seed):
    ends = np.random.default_rng(seed).uniform(0.2, 0.85, 20)
    study = optuna.create_study(direction="maximize", pruner=LawPruner(N))
    stops = [stop_of(study, make_curve(end=end, seed=100 * seed + index, noise=0.1)) for index, end in enumerate(ends)]
    kept = [end for end, stop in zip(ends, stops, strict=True) if stop is None]
    assert 5 <= sum(stop is not None for stop in stops) <= 18
    assert max(kept) > max(ends) - 0.05


def test_b19_trials_that_are_over_are_read_once():
    pruner = LawPruner(N)
    study = study_with_finished(pruner)
    views = [pruner._views.of(study, trial) for trial in study.get_trials(deepcopy=False)]
    stop_of(study, make_curve(end=0.9, seed=1))
    again = [pruner._views.of(study, trial) for trial in study.get_trials(deepcopy=False)]
    assert all(one is other for one, other in zip(views, again, strict=False))


def test_b21_the_same_seed_gives_the_same_decisions(tmp_path):
    def decided(name):
        storage = storage_of("sqlite", str(tmp_path / name))
        sampler = optuna.samplers.TPESampler(seed=7)
        study = optuna.create_study(study_name=STUDY, storage=storage, direction="maximize", sampler=sampler)
        work(storage, 8, 20, sampler)
        return [(trial.state, trial.params, trial.user_attrs) for trial in study.get_trials()]

    assert decided("one.db") == decided("two.db")


def test_b25_the_tests_run_on_optuna_4_and_fail_on_warnings_of_what_will_change():
    assert "make test-optuna4" in (ROOT / ".ci/run").read_text().splitlines()
    makefile = (ROOT / "Makefile").read_text()
    recipe = re.search(r"(?m)^test-optuna4:.*\n((?:\t.*\n)+)", makefile).group(1)
    assert "tests/pruning" in recipe and "-W error::FutureWarning" in recipe
    assert "'optuna==4.9.*'" in makefile
