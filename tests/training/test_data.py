"""What TRL makes of a task: columns, the order of prompts, also after a resume; what is too long is left out."""

import json

import pytest

from grpo_ops.journal import RunFolder
from grpo_ops.specs import RunSpec, with_settings
from grpo_ops.training.assignment import Assignment
from tests.tiny_models import tiny_model

NOTED = """
import json

def noted(prompts, completions, level, part, trainer_state, file, **_):
    with open(file, "a") as notes:
        for row in zip(prompts, level, part):
            notes.write(json.dumps([trainer_state.global_step + 1, *row]) + "\\n")
    return [float(len(text) % 3) for text in completions]
"""
GRPO = {
    "max_steps": 6,
    "per_device_train_batch_size": 4,
    "num_generations": 2,
    "max_completion_length": 4,
    "gradient_checkpointing": False,
    "shuffle_dataset": False,
}
#: Six prompts to train on, two a step: the fourth step begins the second time around.
STEPS_AN_EPOCH = 3


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny_model(tmp_path_factory.mktemp("tiny") / "model", weights=True)


@pytest.fixture
def spec(tmp_path, monkeypatch, model):
    (tmp_path / "house.py").write_text(NOTED)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    parts = []
    for name, count in (("a", 5), ("b", 6)):
        path = tmp_path / f"{name}.jsonl"
        records = [{"prompt": f"{name}{n}", "answer": "1", "level": n} for n in range(count)]
        records += [{"prompt": name * 90, "answer": "1", "level": 9}]
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        parts.append({"source": "jsonl", "path": str(path)})
    return {
        "name": "tiny",
        "model": {"id": model},
        "task": {"source": "mixture", "parts": parts, "too_long": "filter", "train_size": 6, "order": "as_given"},
        "rewards": [{"name": "house:noted", "config": {"file": str(tmp_path / "notes")}}],
        "grpo": GRPO,
        "evaluation": {"prompts": 4, "every": 100},
    }


def trained(tmp_path, table, *settings, resume=None):
    """Train with TRL, saving at steps 2 and 4, from the checkpoint of step `resume`; rows per step, and the bench."""
    from transformers import TrainerCallback

    from grpo_ops.training.build import build

    class Saving(TrainerCallback):
        def on_step_end(self, args, state, control, **_):
            control.should_save = state.global_step in (2, 4)

    notes = tmp_path / "notes"
    notes.unlink(missing_ok=True)
    folder = RunFolder(tmp_path / "run")
    checked = RunSpec.checked(with_settings(json.loads(json.dumps(table)), settings), "test")
    bench = build(folder, Assignment("tiny", 0, checked, None, True))
    bench.trainer.add_callback(Saving())
    checkpoint = None if resume is None else str(folder.checkpoints / f"checkpoint-{resume}")
    bench.trainer.train(resume_from_checkpoint=checkpoint)
    for reward in bench.rewards:
        reward.stop()
    steps = {}
    for step, prompt, level, part in map(json.loads, notes.read_text().splitlines()):
        steps.setdefault(step, []).append((prompt, level, part))
    return steps, bench


def test_columns_reach_the_reward_and_the_order_is_kept_also_after_a_resume(tmp_path, spec):
    """Row C13, and a resume: the file's order, part after part, without what is too long."""
    steps, bench = trained(tmp_path, spec)
    assert all(prompt == f"{part}{level}" for rows in steps.values() for prompt, level, part in rows)
    in_order = [row.prompt for row in bench.task.train]
    assert in_order == sorted(in_order) and len(in_order) == 2 * STEPS_AN_EPOCH
    seen = [prompt for step in range(1, 7) for prompt, *_ in steps[step][::2]]
    assert seen == in_order * 2
    assert bench.notes == ("task: 2 of 12 prompts looked at are left out: longer than 60 tokens (the longest: 91)",)
    for resumed in (2, 4):
        again, _ = trained(tmp_path, spec, resume=resumed)
        assert again == {step: rows for step, rows in steps.items() if step > resumed}


def test_a_curriculum_is_trained_from_low_to_high(tmp_path, spec):
    steps, _ = trained(tmp_path, spec, "task.order=shuffled", "task.curriculum_column=level", "grpo.max_steps=3")
    levels = [level for step in range(1, 4) for _, level, _ in steps[step]]
    assert levels == sorted(levels)


def test_the_trainer_says_in_its_journal_what_it_left_out(runs, look, spec):
    folder = runs.make("left-out", allow_import_paths=True)
    document = json.loads(folder.spec.read_text())
    table = {**spec, "rewards": [{"name": "exact_match"}], "grpo": {**GRPO, "max_steps": 1}}
    folder.spec.write_text(json.dumps({**document, "spec": table}))
    runs.finish(folder)
    said = [entry["message"] for entry in look.lines(folder, "warning")]
    assert said == ["task: 2 of 12 prompts looked at are left out: longer than 60 tokens (the longest: 91)"]
    assert len(look.lines(folder, "evaluation")[0]["prompt_ids"]) == 4
