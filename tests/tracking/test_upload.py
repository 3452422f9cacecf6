import pytest
from mlflow import MlflowClient

from grpo_ops.journal import Journal
from grpo_ops.tracking import open_run, reconcile
from grpo_ops.tracking.models import run_models
from tests.processes import PATIENCE
from tests.tracking.world import folder_of, history, make_spec, tags_of, write_evaluation, write_start, write_steps


@pytest.fixture
def closed(home):
    """A run with a best checkpoint at step 10, ready to be closed."""
    folder = folder_of(home, "k")
    best = folder.checkpoints / "best-10"
    best.mkdir(parents=True)
    (best / "adapter_config.json").write_text("{}")
    (best / "adapter_model.safetensors").write_bytes(b"weights")
    folder.log.write_text("said something\n")
    with Journal(folder.journal, 0) as journal:
        write_start(journal)
        write_evaluation(journal, 0, 10)
        write_steps(journal, range(1, 11))
        write_evaluation(journal, 10, 30)
        journal.append("checkpoint", step=10, path="checkpoints/best-10", sha256="abc", role="best")
    tracker = open_run(home, make_spec(), "k", study="s")
    tracker.log([])
    return tracker


def models(home, tracker):
    client = MlflowClient(home.tracking_uri)
    return run_models(client, client.get_run(tracker.run_id).info.experiment_id, tracker.run_id)


def test_a8_the_best_checkpoint_is_one_logged_model_with_its_evaluation(home, closed, tmp_path):
    figure = tmp_path / "some.png"
    figure.write_bytes(b"\x89PNG")
    law = {"law": "exponential", "status": "ok", "params": {"gain": 0.4}, "r2": 0.9, "noise": 0.02}
    assert closed.close("plateau", "enough", law=law, figure=figure).wait(PATIENCE) is None
    client = MlflowClient(home.tracking_uri)
    files = {file.path for file in client.list_artifacts(closed.run_id)}
    assert files == {"spec.json", "law.json", "figures", "journal.jsonl", "trainer.log"}
    assert [file.path for file in client.list_artifacts(closed.run_id, "figures")] == ["figures/forecast.png"]
    (model,) = models(home, closed)
    assert str(model.status) == "READY"
    assert (model.name, model.model_type, model.tags["grpo_ops.run_key"]) == ("k-step-10", "adapter", "k")
    assert model.tags["grpo_ops.eval.baseline"] == "0.25"
    (metric,) = model.metrics
    assert (metric.key, metric.value, metric.step, metric.dataset_digest) == ("eval_reward", 0.75, 10, "d1")
    assert {file.path for file in client.list_logged_model_artifacts(model.model_id)} == {
        "adapter_config.json",
        "adapter_model.safetensors",
    }
    assert history(home.tracking_uri, closed.run_id, "eval_reward") == [(0, 0.25), (10, 0.75)]
    assert tags_of(home.tracking_uri, closed.run_id)["grpo_ops.upload"] == "complete"
    assert client.get_run(closed.run_id).outputs.model_outputs[0].model_id == model.model_id


def test_uploading_again_makes_no_second_model_and_completes_a_half_one(home, closed):
    assert closed.close("finished", "done").wait(PATIENCE) is None
    (model,) = models(home, closed)
    client = MlflowClient(home.tracking_uri)
    client.set_tag(closed.run_id, "grpo_ops.upload", "failed: killed")
    assert [repair.actions for repair in reconcile(home)] == [("upload its files",)]
    assert [m.model_id for m in models(home, closed)] == [model.model_id]

    half = client.create_logged_model(model.experiment_id, "half", closed.run_id, dict(model.tags))
    client.delete_logged_model(model.model_id)
    client.set_tag(closed.run_id, "grpo_ops.upload", "failed: killed")
    reconcile(home)
    (again,) = models(home, closed)
    assert again.model_id not in (model.model_id, half.model_id)
    assert str(again.status) == "READY"


def test_a9_an_upload_that_fails_is_a_tag_and_is_done_again_later(home, closed):
    home.artifacts.rename(home.root / "elsewhere")
    home.artifacts.write_text("a file where the folder should be")
    failure = closed.close("finished", "done").wait(PATIENCE)
    assert "the best checkpoint: " in failure
    tags = tags_of(home.tracking_uri, closed.run_id)
    assert tags["grpo_ops.upload"].startswith("failed: ")
    assert tags["grpo_ops.ending"] == "finished"
    home.artifacts.unlink()
    (home.root / "elsewhere").rename(home.artifacts)
    (repair,) = reconcile(home)
    assert (repair.actions, repair.trouble) == (("upload its files",), None)
    assert len([model for model in models(home, closed) if str(model.status) == "READY"]) == 1
