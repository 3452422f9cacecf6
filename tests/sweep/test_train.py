"""A run on its own, in a home of its own, with a scripted trainer."""

import pytest
from mlflow import MlflowClient

from grpo_ops.ending import Ending
from grpo_ops.home import Home
from grpo_ops.sweep import run_key, train
from tests.sweep.helpers import NOBODY, metric_steps
from tests.sweep.sweep_process import SCRIPTED, spec_with


def test_f3_a_run_on_its_own_is_continued_and_then_left_alone(home, monkeypatch):
    spec = spec_with().run
    monkeypatch.setenv("TRAINER_MOOD", "crash:33")
    assert train(spec, home, launcher=SCRIPTED).result.ending is Ending.FAILED
    report = train(spec, home, launcher=SCRIPTED)
    assert (report.result.ending, report.result.attempt, report.was_over) == (Ending.FINISHED, 1, False)
    again = train(spec, home, launcher=NOBODY)
    assert again.was_over
    assert again.result == report.result
    client = MlflowClient(home.tracking_uri)
    (run,) = client.search_runs([client.get_experiment_by_name("grpo-ops").experiment_id])
    assert run.info.status == "FINISHED"
    assert metric_steps(home, run, "reward") == list(range(1, 61))


def test_the_same_spec_is_the_same_run_in_one_home_and_another_in_another(tmp_path):
    spec, homes = spec_with().run, (Home(tmp_path / "one"), Home(tmp_path / "two"))
    first, again = (run_key(spec, homes[0]) for _ in range(2))
    assert first == again != run_key(spec, homes[1])
    assert run_key(spec.model_copy(update={"seed": 5}), homes[0]) != first


@pytest.mark.slow
def test_train_closes_what_a_killed_supervisor_left_open(home):
    spec = spec_with().run
    report = train(spec, home, launcher=SCRIPTED)
    (home.runs / report.result.key / "closed.json").unlink()  # as a kill before the closing leaves it
    client = MlflowClient(home.tracking_uri)
    client.update_run(report.row.mlflow_run_id, status="RUNNING")
    again = train(spec, home, launcher=NOBODY)
    assert (again.was_over, again.row.mlflow_run_id) == (True, report.row.mlflow_run_id)
    assert client.get_run(report.row.mlflow_run_id).info.status == "FINISHED"
