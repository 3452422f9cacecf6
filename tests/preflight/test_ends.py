"""Row C19: pre-flight shows the tokens by which a completion ends and warns where they do not fit together."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from grpo_ops.preflight import examine
from grpo_ops.specs import RunSpec, load_spec
from tests.tiny_models import TURN, TURN_TEMPLATE, tiny_model

RUN = Path(__file__).parents[2] / "deployments/runs/demo.toml"
REFUSES_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    + TURN_TEMPLATE
)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("GRPO_OPS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def write(tmp_path, count=30, chat=False):
    records = []
    for n in range(count):
        text = f"What is {n}?"
        records.append({"prompt": [{"role": "user", "content": text}] if chat else text, "answer": n})
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def spec_of(model, data, *settings):
    task = f'task={{source="jsonl", path="{data}"}}'
    common = ("evaluation.prompts=4", "rewards=[{name='exact_match'}]", "grpo.max_completion_length=8")
    return load_spec(RunSpec, RUN, (f"model.id={model}", task, *common, *settings))


def test_pad_eos_and_end_of_turn_are_shown_with_their_tokens(tmp_path):
    model = tiny_model(tmp_path / "model", eos=[2, 104])
    found = examine(spec_of(model, write(tmp_path, chat=True)))
    assert list(found.ends.lines()) == ["pad: 0 '<pad>'", f"eos: 2 '</s>', 104 '{TURN}'", f"end of turn: 104 '{TURN}'"]
    assert (found.faults, found.warnings) == ((), ())  # TRL ends a completion at each of several eos ids


@pytest.mark.parametrize(
    ("settings", "chat", "beginnings"),
    [
        ({"pad_token": "</s>"}, False, ["model.id: pad and eos are the same token, 2 '</s>'"]),
        ({"pad_token": None}, False, ["model.id: pad and eos are the same token, 2 '</s>'"]),
        ({"pad_token": TURN, "eos": [2, 104]}, False, ["model.id: pad and eos are the same token, 104 '<|turn|>'"]),
        ({}, True, ["model.id: the chat template ends a turn with 104 '<|turn|>', which ends no completion"]),
        ({"eos": 2}, True, ["model.id: the chat template ends a turn with 104 '<|turn|>', which ends no completion"]),
        ({"eos": 2}, False, []),
        ({"eos": [2, 3]}, False, []),
        ({"eos_token": TURN}, True, []),
    ],
)
def test_warnings_of_end_tokens(tmp_path, settings, chat, beginnings):
    found = examine(spec_of(tiny_model(tmp_path / "model", **settings), write(tmp_path, chat=chat)))
    assert found.faults == ()
    assert len(found.warnings) == len(beginnings)
    assert all(said.startswith(expected) for said, expected in zip(found.warnings, beginnings, strict=True))


@pytest.mark.parametrize(
    ("settings", "more", "sentence"),
    [
        ({"template": None}, (), "task: the prompts are messages, but the model's tokenizer has no chat template"),
        (
            {"template": REFUSES_SYSTEM},
            ("task.system_prompt=Be brief.",),
            "task: the model's chat template refuses a prompt with the roles system, user: System role not supported",
        ),
        ({"eos_token": None}, (), "model.id: the tokenizer has no eos token, which TRL needs"),
    ],
)
@pytest.mark.parametrize("too_long", ["refuse", "filter"])
def test_what_trl_would_raise_is_a_fault(tmp_path, settings, more, sentence, too_long):
    model = tiny_model(tmp_path / "model", **settings)
    found = examine(spec_of(model, write(tmp_path, chat=True), f"task.too_long={too_long}", *more))
    assert [fault.startswith(sentence) for fault in found.faults] == [True]


def test_the_installed_trl_counts_every_eos_id_as_an_end():
    """The warning that several eos ids deserved before: gone while TRL takes them all from the generation_config."""
    place = Path(find_spec("trl").origin).parent / "trainer/grpo_trainer.py"
    source = place.read_text(encoding="utf-8")
    assert "eos_token_ids = model.generation_config.eos_token_id" in source
    assert "eos_and_pad = [*self.eos_token_ids, self._tokenizer.pad_token_id]" in source
