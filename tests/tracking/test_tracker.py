import json
import time
from pathlib import Path

import pytest
from mlflow import MlflowClient

from grpo_ops.errors import TrackingError
from grpo_ops.journal import Journal, JournalReader
from grpo_ops.tracking import open_run, open_study
from grpo_ops.tracking.names import STATUSES
from tests.tracking.world import (
    folder_of,
    history,
    make_spec,
    status_of_run,
    tags_of,
    write_evaluation,
    write_start,
    write_steps,
)


def follow(tracker, journal, *parts):
    """Let each part write to the journal, and deliver its lines to the tracker, as the supervisor does."""
    reader = JournalReader(tracker.folder.journal)
    list(reader.poll())
    for part in parts:
        part(journal)
        tracker.log(reader.poll())


def test_a_run_has_its_settings_metrics_tags_and_prompts(home):
    open_study(home, "grpo-ops", "study")
    tracker = open_run(home, make_spec(), "study-001", study="study", tags={"grpo_ops.trial": "1"})
    with Journal(tracker.folder.journal, 0) as journal:
        follow(
            tracker, journal, write_start, lambda j: write_evaluation(j, 0, 10), lambda j: write_steps(j, range(1, 6))
        )
    run = MlflowClient(home.tracking_uri).get_run(tracker.run_id)
    assert run.info.status == "RUNNING"
    assert run.info.run_name == "study-001"
    assert run.data.params["grpo.max_steps"] == "20"
    assert run.data.params["lora.r"] == "8"
    assert run.data.metrics["rewards/exact_match/mean"] == pytest.approx(0.3)
    assert run.data.tags["grpo_ops.trial"] == "1"
    assert run.data.tags["mlflow.source.name"] == "grpo-ops"
    inputs = {entry.tags[0].value: entry.dataset for entry in run.inputs.dataset_inputs}
    assert inputs["training"].name == inputs["evaluation"].name == "starter/arith"
    assert inputs["evaluation"].digest == "d1"
    assert history(home.tracking_uri, tracker.run_id, "eval_reward") == [(0, 0.25)]
    assert not tracker.is_behind


def test_a12_b2_a_trial_is_a_child_of_its_study(home):
    study = open_study(home, "grpo-ops", "study")
    trackers = [open_run(home, make_spec(), f"study-{number}", study="study") for number in range(3)]
    assert len({tracker.run_id for tracker in trackers}) == 3
    assert {tags_of(home.tracking_uri, t.run_id)["mlflow.parentRunId"] for t in trackers} == {study.run_id}


def test_metrics_keep_the_time_of_their_line(home):
    tracker = open_run(home, make_spec(), "k")
    with Journal(tracker.folder.journal, 0) as journal:
        follow(tracker, journal, lambda j: write_steps(j, [1]))
    line = next(iter(JournalReader(tracker.folder.journal).poll()))
    point = MlflowClient(home.tracking_uri).get_metric_history(tracker.run_id, "reward")[0]
    assert point.timestamp == round(line["time"] * 1000)


def test_a3_f3_resuming_continues_the_same_run_and_no_step_comes_twice(home):
    first = open_run(home, make_spec(), "k")
    with Journal(first.folder.journal, 0) as journal:
        follow(first, journal, write_start, lambda j: write_steps(j, range(1, 11)))
    first.close("failed", "killed by SIGKILL", upload=False)
    second = open_run(home, make_spec(), "k")
    with Journal(second.folder.journal, 1) as journal:
        resumed = (lambda j: write_start(j, 6), lambda j: write_steps(j, range(7, 21), reward=0.5))
        follow(second, journal, *resumed)
    assert second.run_id == first.run_id
    rewards = history(home.tracking_uri, first.run_id, "reward")
    assert [step for step, _ in rewards] == list(range(1, 21))
    assert rewards[8] == (9, pytest.approx(0.39)) and rewards[10] == (11, pytest.approx(0.61))
    assert tags_of(home.tracking_uri, first.run_id)["grpo_ops.attempt"] == "1"


def test_a15_a_failed_run_that_is_resumed_ends_well(home):
    first = open_run(home, make_spec(), "k")
    first.close("failed", "RuntimeError: boom", upload=False)
    assert status_of_run(home.tracking_uri, first.run_id) == "FAILED"
    second = open_run(home, make_spec(), "k")
    assert status_of_run(home.tracking_uri, first.run_id) == "RUNNING"
    assert "grpo_ops.ending" not in tags_of(home.tracking_uri, first.run_id)
    second.close("finished", "all 20 steps done", upload=False)
    assert status_of_run(home.tracking_uri, first.run_id) == "FINISHED"


def test_a4_changed_params_on_resume_are_a_tag_and_new_ones_are_logged(home):
    open_run(home, make_spec(lora=None), "k")
    second = open_run(home, make_spec(grpo__max_steps=40), "k")
    run = MlflowClient(home.tracking_uri).get_run(second.run_id)
    assert run.data.params["grpo.max_steps"] == "20"
    assert run.data.params["lora.r"] == "8"
    assert json.loads(run.data.tags["grpo_ops.params_changed"])["grpo.max_steps"] == ["20", "40"]


def test_a1_a_value_of_10_000_characters_is_short_as_param_and_whole_in_the_artifact(home, tmp_path):
    template = "x" * 10_000
    tracker = open_run(home, make_spec(task__system_prompt=template), "k")
    client = MlflowClient(home.tracking_uri)
    assert len(client.get_run(tracker.run_id).data.params["task.system_prompt"]) == 250
    spec = json.loads(Path(client.download_artifacts(tracker.run_id, "spec.json", str(tmp_path))).read_text())
    assert spec["task"]["system_prompt"] == template


def test_a13_non_finite_values_leave_a_tag_and_finite_metrics(home):
    tracker = open_run(home, make_spec(), "k")
    with Journal(tracker.folder.journal, 0) as journal:
        bad = {"loss": float("nan"), "grad_norm": float("-inf")}
        follow(tracker, journal, lambda j: write_steps(j, [1, 2], **bad), lambda j: write_steps(j, [3], loss=0.5))
    assert tags_of(home.tracking_uri, tracker.run_id)["grpo_ops.nonfinite"] == "grad_norm 2, loss 2"
    assert history(home.tracking_uri, tracker.run_id, "loss") == [(3, 0.5)]
    again = open_run(home, make_spec(), "k")
    again.log([])
    assert tags_of(home.tracking_uri, again.run_id)["grpo_ops.nonfinite"] == "grad_norm 2, loss 2"


def test_law_metrics_are_sent_with_the_next_lines_or_at_the_end(home):
    tracker = open_run(home, make_spec(), "k")
    tracker.log_law(5, {"law/forecast": 0.6}, time.time())
    tracker.log([])
    tracker.log_law(10, {"law/forecast": 0.7, "law/plateau_step": 15}, time.time())
    tracker.close("plateau", "the forecast gain left is below 0.03", upload=False)
    assert history(home.tracking_uri, tracker.run_id, "law/forecast") == [(5, 0.6), (10, 0.7)]
    assert history(home.tracking_uri, tracker.run_id, "law/plateau_step") == [(10, 15.0)]


@pytest.mark.parametrize(("ending", "status"), STATUSES.items())
def test_a11_b1_the_status_is_the_true_one(home, ending, status):
    tracker = open_run(home, make_spec(), "k")
    tracker.close(ending, "because", upload=False)
    assert status_of_run(home.tracking_uri, tracker.run_id) == status
    tags = tags_of(home.tracking_uri, tracker.run_id)
    assert (tags["grpo_ops.ending"], tags["grpo_ops.stop_reason"]) == (ending, "because")


def test_the_description_says_in_words_what_happened(home):
    tracker = open_run(home, make_spec(), "k")
    with Journal(tracker.folder.journal, 0) as journal:
        parts = (lambda j: write_evaluation(j, 0, 10), lambda j: write_steps(j, range(1, 11)))
        follow(tracker, journal, write_start, *parts, lambda j: write_evaluation(j, 10, 30))
    forecast = {"mean": 0.62, "low": 0.55, "high": 0.7, "horizon": 20, "step": 10}
    law = {"law": "exponential", "status": "ok", "params": {"gain": 0.4}, "r2": 0.93, "noise": 0.02}
    tracker.close("hopeless", "it will not beat 0.8", law=law, forecast=forecast, note="More.", upload=False)
    run = MlflowClient(home.tracking_uri).get_run(tracker.run_id)
    note = run.data.tags["mlflow.note.content"]
    assert note.startswith("**hopeless** after 10 of 20 steps")
    for words in (
        "it will not beat 0.8",
        "| evaluation before training | 0.250 ± 0.069 (40 prompts) |",
        "| best evaluation, step 10 | 0.750 ± 0.069 (40 prompts) |",
        "| law | exponential (ok): gain 0.4; R² 0.93, noise 0.02 |",
        "| forecast | 0.62 (0.55 to 0.7) at step 20, said at step 10 |",
        "More.",
    ):
        assert words in note
    assert run.data.metrics["eval_reward_best"] == 0.75
    assert run.data.metrics["steps"] == 10


def test_a17_two_open_runs_do_not_mix(home):
    one, two = open_run(home, make_spec(), "one"), open_run(home, make_spec(), "two")
    with Journal(one.folder.journal, 0) as first, Journal(two.folder.journal, 0) as second:
        follow(one, first, lambda j: write_steps(j, [1]))
        follow(two, second, lambda j: write_steps(j, [1, 2]))
    assert len(history(home.tracking_uri, one.run_id, "reward")) == 1
    assert len(history(home.tracking_uri, two.run_id, "reward")) == 2


def test_e14_the_key_not_the_name_finds_the_run(home):
    one = open_run(home, make_spec(), "one", name="same")
    two = open_run(home, make_spec(), "two", name="same")
    assert one.run_id != two.run_id
    assert open_run(home, make_spec(), "one", name="same").run_id == one.run_id


def test_e13_replaying_5_000_points_adds_none(home):
    folder = folder_of(home, "k")
    with Journal(folder.journal, 0) as journal:
        write_steps(journal, range(1, 1251), extra=1.0)
    first = open_run(home, make_spec(), "k")
    while first.is_behind:
        first.log([])
    second = open_run(home, make_spec(), "k")
    while second.is_behind:
        second.log([])
    assert [step for step, _ in history(home.tracking_uri, first.run_id, "reward")] == list(range(1, 1251))


def test_a_refusal_at_the_start_is_an_error(home):
    client = MlflowClient(home.tracking_uri)
    client.delete_experiment(client.create_experiment("gone"))
    with pytest.raises(TrackingError, match="MLflow refused to open run k"):
        open_run(home, make_spec(experiment="gone"), "k")


def test_a_run_that_somebody_deletes_does_not_stop_the_training(home):
    tracker = open_run(home, make_spec(), "k")
    MlflowClient(home.tracking_uri).delete_run(tracker.run_id)
    with Journal(tracker.folder.journal, 0) as journal:
        follow(tracker, journal, lambda j: write_steps(j, [1]), lambda j: write_steps(j, [2]))
    assert "MLflow refused to log metrics" in tracker.trouble
    assert tracker.close("finished", "done") is None
    assert (tracker.folder.path / "tracking.pending").exists()
