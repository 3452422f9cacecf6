"""A whole run, and the same run killed and resumed."""

import json
import shutil

import pytest
from safetensors.torch import load_file

from grpo_ops.journal import journal_curve, journal_evaluations, read_journal
from grpo_ops.training.weights import weights_sha256


@pytest.fixture(scope="module")
def whole(runs):
    folder = runs.make("whole")
    folder.ask.write_text('{"id": "more", "prompts": 8, "seed": 5}')
    runs.finish(folder)
    return folder


def test_every_step_has_its_line_with_trls_metrics(whole, look):
    steps = look.lines(whole, "step")
    assert [entry["step"] for entry in steps] == list(range(1, 41))
    names = {"reward", "reward_std", "loss", "grad_norm", "learning_rate", "entropy", "completions/mean_length"}
    assert names | {"rewards/reasoning_gym/mean", "frac_reward_zero_std"} <= set(steps[0]["metrics"])
    assert all(not entry["nonfinite"] for entry in steps)


def test_the_first_and_the_last_line_say_how_it_went(whole, look):
    entries = read_journal(whole.journal)
    assert (entries[0]["kind"], entries[0]["max_steps"], entries[0]["resumed_from"]) == ("start", 40, None)
    assert {"torch", "trl", "peft", "transformers", "grpo-ops"} == set(entries[0]["versions"])
    assert (entries[-1]["kind"], entries[-1]["reason"]) == ("end", "finished")


def test_evaluations_start_before_the_first_step_and_are_comparable(whole, look):
    evaluations = journal_evaluations(read_journal(whole.journal))
    assert [evaluation.step for evaluation in evaluations] == [0, 10, 20, 30, 40]
    assert len({(evaluation.digest, evaluation.prompt_ids) for evaluation in evaluations}) == 1
    assert len(evaluations[0].outcomes) == 32


def test_what_was_asked_for_is_evaluated_once(whole, look):
    asked = [entry for entry in look.lines(whole, "evaluation") if entry["ask"] is not None]
    assert [(entry["ask"], entry["step"], len(entry["outcomes"])) for entry in asked] == [("more", 0, 8)]


def test_result_and_checkpoints(whole, look):
    result = look.result(whole)
    assert (result["run_key"], result["attempt"], result["reason"], result["step"]) == ("whole", 0, "finished", 40)
    best = max(journal_evaluations(read_journal(whole.journal))[1:], key=lambda evaluation: evaluation.mean)
    assert (result["best"]["step"], result["best"]["mean"]) == (best.step, best.mean)
    for saved in (result["best"], result["last_checkpoint"]):
        assert weights_sha256(whole.path / saved["path"]) == saved["sha256"]
    assert sorted(path.name for path in whole.checkpoints.glob("checkpoint-*")) == ["checkpoint-35", "checkpoint-40"]
    assert [path.name for path in (whole.checkpoints / "best").iterdir()] == [f"step-{best.step}"]
    assert not any(path.suffix in (".pt", ".pth", ".bin") for path in (whole.path / result["best"]["path"]).iterdir())


def test_training_changed_the_adapter(whole, look):
    adapter = load_file(whole.path / look.result(whole)["last_checkpoint"]["path"] / "adapter_model.safetensors")
    fresh = [name for name, weight in adapter.items() if "lora_B" in name and not weight.any()]
    assert fresh == []


def test_a_killed_run_goes_on_from_its_checkpoint_exactly(runs, whole, look):
    folder = runs.make("killed")
    process = runs.start(folder)
    look.until(folder, "checkpoint", 15, process)
    look.kill(process)
    result = runs.finish(runs.make("killed", attempt=1))
    starts = look.lines(folder, "start")
    resumed = starts[1]["resumed_from"]
    assert [entry["attempt"] for entry in starts] == [0, 1]
    assert resumed >= 15
    again = [entry["step"] for entry in look.lines(folder, "step") if entry["attempt"] == 1]
    assert again == list(range(resumed + 1, 41))
    entries = read_journal(folder.journal)
    expected = read_journal(whole.journal)
    assert journal_curve(entries).rewards == pytest.approx(journal_curve(expected).rewards, abs=1e-6)
    assert [evaluation.outcomes for evaluation in journal_evaluations(entries)] == [
        evaluation.outcomes for evaluation in journal_evaluations(expected)
    ]
    repeated = [entry["step"] for entry in look.lines(folder, "evaluation") if entry["attempt"] == 1]
    assert all(step > resumed for step in repeated)
    assert result["last_checkpoint"]["sha256"] == look.result(whole)["last_checkpoint"]["sha256"]
    assert result["best"] == look.result(whole)["best"]


def test_a_damaged_checkpoint_is_not_used_and_the_one_before_it_is(runs, whole, look):
    folder = runs.make("damaged", attempt=1)
    shutil.copytree(whole.path, folder.path, dirs_exist_ok=True)
    runs.make("damaged", attempt=1)
    weights = folder.checkpoints / "checkpoint-40" / "adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4] + b"\0\1\2\3")
    result = runs.finish(folder)
    assert (result["reason"], result["step"]) == ("finished", 40)
    assert look.lines(folder, "start")[-1]["resumed_from"] == 35
    assert "checkpoints/checkpoint-40 is not what the journal says" in look.lines(folder, "warning")[0]["message"]


def test_a_run_that_is_done_ends_at_once_when_started_again(runs, whole, look):
    folder = runs.make("done", attempt=1)
    shutil.copytree(whole.path, folder.path, dirs_exist_ok=True)
    folder.result.unlink()
    folder.ask.unlink()
    runs.make("done", attempt=1)
    result = runs.finish(folder)
    assert (result["reason"], result["attempt"], result["step"]) == ("finished", 1, 40)
    assert [entry["step"] for entry in look.lines(folder, "step")] == list(range(1, 41))


def test_full_fine_tuning_saves_whole_models(runs, look):
    folder = runs.make("full", "grpo.max_steps=4", "evaluation.every=2", "grpo.learning_rate=1e-4")
    document = json.loads(folder.spec.read_text())
    document["spec"]["lora"] = None
    folder.spec.write_text(json.dumps(document))
    result = runs.finish(folder)
    place = folder.path / result["best"]["path"]
    assert {"model.safetensors", "config.json", "tokenizer.json"} <= {path.name for path in place.iterdir()}
