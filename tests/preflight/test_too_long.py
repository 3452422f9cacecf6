"""Row C13: prompts that the window has no room for refuse the run, or are left out and counted."""

import json
from pathlib import Path

import pytest

from grpo_ops.preflight import check, examine, examine_sweep
from grpo_ops.specs import RunSpec, SweepSpec, load_spec
from grpo_ops.tasks import Room, Row, load_task, room_for
from tests.tiny_models import tiny_model

DEPLOYMENTS = Path(__file__).parents[2] / "deployments"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("GRPO_OPS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture
def settings(tmp_path):
    """A window of 64 of which 8 are the answer's; one prompt of 9000 characters, two of 60, thirty short ones."""
    texts = ["x" * 9000, *(f"{n}" * 60 for n in range(2)), *(f"What is {n}?" for n in range(30))]
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps({"prompt": text, "answer": "1"}) + "\n" for text in texts))
    return (
        f"model.id={tiny_model(tmp_path / 'model')}",
        f'task={{source="jsonl", path="{path}"}}',
        *("evaluation.prompts=10", "rewards=[{name='exact_match'}]", "grpo.max_completion_length=8"),
    )


def run_of(*settings):
    return load_spec(RunSpec, DEPLOYMENTS / "runs/demo.toml", settings)


def test_refuse_is_one_sentence_with_count_longest_and_window(settings):
    (fault,) = check(run_of(*settings))
    assert fault.startswith("task: 3 of 33 prompts are longer than 56 tokens (the longest: 9001)")
    assert "has a window of 64" in fault and 'task.too_long = "filter"' in fault


def test_filter_leaves_them_out_of_both_sets_and_counts_them(settings):
    spec = run_of(*settings, "task.too_long=filter")
    found = examine(spec)
    assert found.faults == ()
    (said,) = found.warnings
    assert said == "task: 3 of 33 prompts looked at are left out: longer than 56 tokens (the longest: 9001)"


def test_filter_keeps_the_number_of_held_out_prompts_and_its_shortage_is_one_sentence(settings, tmp_path):
    from transformers import AutoTokenizer

    spec = run_of(*settings, "task.too_long=filter")
    tokenizer = AutoTokenizer.from_pretrained(spec.model.id)
    task = load_task(spec.task, spec.evaluation, room_for(spec, tokenizer, 64))
    assert (len(task.train), len(task.eval)) == (20, 10)
    assert max(len(row.prompt) for row in (*task.train, *task.eval)) < 56
    (fault,) = check(run_of(*settings, "task.too_long=filter", "evaluation.prompts=30"))
    assert "30 different prompts to hold out and 0 left to train on" in fault
    assert "(3 of 33 prompts looked at are left out: longer than 56 tokens (the longest: 9001))" in fault


def test_a_generated_task_draws_others_instead():
    from grpo_ops.tasks.vocabulary import task_tokenizer

    spec = run_of(
        "task.too_long=filter", "grpo.max_completion_length=249", "task.train_size=20", "evaluation.prompts=10"
    )
    room = room_for(spec, task_tokenizer("arith"), 256)
    assert room.tokens == 7
    assert all(room.holds(Row("short", "1 + 2", "3")) for _ in range(2))
    assert not room.holds(Row("long", "1" * 8, "3"))
    assert (len(room.measured), room.too_long) == (2, {"long": 9})


def test_without_a_window_or_with_refuse_nothing_is_measured(settings):
    assert room_for(run_of(*settings), None, 64) is None
    assert room_for(run_of(*settings, "task.too_long=filter"), None, None) is None
    assert isinstance(room_for(run_of(*settings, "task.too_long=filter"), None, 64), Room)


def test_a_sweep_has_the_warnings_of_its_runs(settings):
    inner = tuple(f"run.{setting}" for setting in settings)
    spec = load_spec(SweepSpec, DEPLOYMENTS / "sweeps/demo.toml", (*inner, "run.task.too_long=filter"))
    found = examine_sweep(spec)
    assert found.faults == ()
    assert [said.split(":")[0] for said in found.warnings] == ["task"]
    assert "3 of 33 prompts looked at are left out" in found.warnings[0]
    assert found.ends.eos[0].id == 2
