import math

import pytest
from mlflow import MlflowClient
from mlflow.entities import Metric

from grpo_ops.errors import TrackingError
from grpo_ops.journal import Journal
from grpo_ops.tracking import curve_of_run, open_run
from tests.tracking.world import make_spec, write_evaluation, write_steps


def foreign_run(home, points, metric="reward", params=None):
    """A run that others logged: (step, value) in the order of logging."""
    client = MlflowClient(home.tracking_uri)
    run_id = client.create_run("0", run_name="theirs").info.run_id
    for name, value in (params or {}).items():
        client.log_param(run_id, name, value)
    client.log_batch(run_id, [Metric(metric, value, 1000 + at, step) for at, (step, value) in enumerate(points)])
    return run_id


def test_one_of_ours_by_run_id_and_by_key(home):
    tracker = open_run(home, make_spec(), "k")
    with Journal(tracker.folder.journal, 0) as journal:
        write_steps(journal, range(1, 4))
        write_evaluation(journal, 2, 20)
    tracker.close("finished", "done", upload=False)
    for name in (tracker.run_id, "k"):
        found = curve_of_run(name, home.tracking_uri)
        assert found.curve.steps == (1, 2, 3)
        assert found.curve.rewards == pytest.approx((0.31, 0.32, 0.33))
        assert found.curve.max_steps == 20
        assert found.curve[0].metrics == {"reward_std": 0.2}
        assert (found.run_id, found.name, found.notes) == (tracker.run_id, "k", ())
    assert curve_of_run("k", home.tracking_uri, metric="eval_reward").curve.rewards == (0.5,)


@pytest.mark.parametrize("metric", ["reward", "train/reward"])
def test_a14_of_a_foreign_run_the_later_value_counts_and_repeats_are_told(home, metric):
    points = [(1, 0.1), (2, 0.2), (3, 0.3), (2, 0.5), (3, 0.6), (4, 0.7)]
    found = curve_of_run(foreign_run(home, points, metric, {"max_steps": "10"}), home.tracking_uri)
    assert found.curve.rewards == (0.1, 0.5, 0.6, 0.7)
    assert found.curve.max_steps == 10
    assert found.notes == (f"2 points of {metric} repeat a step (a resumed run); the last value of a step counts",)


def test_a13_points_that_are_not_finite_are_left_out_and_told(home):
    points = [(1, 0.1), (2, math.nan), (3, math.inf), (4, 0.2)]
    found = curve_of_run(foreign_run(home, points, params={"max_steps": "-1"}), home.tracking_uri)
    assert (found.curve.steps, found.curve.max_steps) == ((1, 4), None)
    assert found.notes == ("2 points of reward are not finite and are left out",)


def test_what_transformers_own_callback_logs_is_read(home, tmp_path, monkeypatch):
    import mlflow
    from transformers import TrainerControl, TrainerState, TrainingArguments
    from transformers.integrations import MLflowCallback

    monkeypatch.setenv("MLFLOW_TRACKING_URI", home.tracking_uri)
    mlflow.set_tracking_uri(home.tracking_uri)
    try:
        arguments = TrainingArguments(str(tmp_path / "out"), max_steps=30, report_to=[])
        state, control, callback = TrainerState(is_world_process_zero=True), TrainerControl(), MLflowCallback()
        callback.setup(arguments, state, None)
        for state.global_step in (1, 2, 3):
            callback.on_log(arguments, state, control, {"reward": state.global_step / 10, "loss": 0.1})
        mlflow.flush_async_logging()
        run_id = mlflow.active_run().info.run_id
        callback.on_train_end(arguments, state, control)
        mlflow.end_run()
    finally:
        mlflow.set_tracking_uri(None)
    found = curve_of_run(run_id, home.tracking_uri)
    assert found.curve.rewards == (0.1, 0.2, 0.3)
    assert found.curve.max_steps == 30


@pytest.mark.parametrize(
    ("run", "words"),
    [("no-such-key", "there is no run with id or run key 'no-such-key'"), ("0" * 32, "refused to read run 0000")],
)
def test_a_run_that_is_not_there_is_an_error(home, run, words):
    with pytest.raises(TrackingError, match=words):
        curve_of_run(run, home.tracking_uri)


def test_a_run_without_a_reward_says_what_it_has(home):
    run_id = foreign_run(home, [(1, 0.5)], "loss")
    with pytest.raises(TrackingError, match="has no metric 'reward'; it has loss"):
        curve_of_run(run_id, home.tracking_uri)


def test_a_server_that_cannot_be_reached_is_an_error():
    with pytest.raises(TrackingError, match="could not read run"):
        curve_of_run("k", "http://127.0.0.1:1")
