"""Starter models: their grammar, their sizes, their tokenizer, and a cache that two processes may fill at once."""

import subprocess
import sys

import pytest

from grpo_ops.errors import TaskError
from grpo_ops.tasks import STARTER_TASKS
from grpo_ops.tasks.presets import starter_task
from grpo_ops.tasks.starter import Recipe
from grpo_ops.tasks.vocabulary import task_pairs, task_tokenizer
from tests.processes import PATIENCE


@pytest.mark.parametrize(
    ("model_id", "parameters", "share"),
    [
        ("starter:arith-xs", 0.1, 0.3),
        ("starter:arith-s@0.5", 0.4, 0.5),
        ("starter:spell-m@.2", 1.6, 0.2),
        ("starter:rotate-0.03m", 0.03, 0.3),
        ("starter:rotate-3m", 3.0, 0.3),
    ],
)
def test_grammar(model_id, parameters, share):
    assert (Recipe.of(model_id).parameters, Recipe.of(model_id).share) == (parameters, share)


@pytest.mark.parametrize(
    ("model_id", "message"),
    [
        ("starter:chess-s", "no starter task 'chess'"),
        ("starter:arith-4m", "0.03m to 3.0m parameters"),
        ("starter:arith-s@0.0", "between 0 and 1"),
        ("starter:arith", "write starter:TASK-SIZE"),
    ],
)
def test_what_is_no_starter_model(model_id, message):
    with pytest.raises(TaskError, match=message):
        Recipe.of(model_id)


def test_recipes_that_differ_have_different_folders():
    names = ["starter:arith-xs", "starter:arith-s", "starter:spell-xs", "starter:arith-xs@0.4"]
    assert len({Recipe.of(name).digest for name in names}) == len(names)
    assert Recipe.of("starter:arith-xs").digest == Recipe.of("starter:arith-0.1m@0.3").digest


@pytest.mark.parametrize("parameters", [0.03, 0.1, 0.4, 1.6, 3.0])
def test_a_model_has_the_parameters_that_its_name_says(parameters):
    import torch
    from transformers import LlamaForCausalLM

    from grpo_ops.tasks.warmup import model_config

    config = model_config(parameters, task_tokenizer("spell"))
    with torch.device("meta"):
        count = LlamaForCausalLM(config).num_parameters()
    assert count == pytest.approx(parameters * 1e6, rel=0.04)
    assert config.hidden_size // config.num_attention_heads == 32


@pytest.mark.parametrize("name", sorted(STARTER_TASKS))
def test_the_tokenizer_reads_and_writes_a_task_without_loss(name):
    tokenizer = task_tokenizer(name)
    assert len({tokenizer.pad_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.unk_token_id}) == 4
    assert tokenizer.padding_side == "left"
    for question, answer in task_pairs(starter_task(name))[:200]:
        ids = tokenizer(question)["input_ids"]
        assert len(ids) <= 16
        assert tokenizer.decode(ids, skip_special_tokens=True) == question
        assert tokenizer.decode(tokenizer(answer)["input_ids"], skip_special_tokens=True) == answer
        messages = [{"role": "user", "content": question}]
        chat = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=True)
        assert chat["input_ids"] == ids


@pytest.mark.parametrize("name", sorted(STARTER_TASKS))
def test_the_wrong_rule_is_wrong_nearly_always(name):
    preset = starter_task(name)
    pairs = task_pairs(preset)[:500]
    assert sum(preset.mistake(question, answer) == answer for question, answer in pairs) < 0.15 * len(pairs)


def test_two_processes_may_ask_for_the_same_model_at_once(tmp_path, monkeypatch):
    monkeypatch.setenv("GRPO_OPS_CACHE", str(tmp_path))
    code = (
        "import dataclasses; from grpo_ops.tasks import presets, starter_folder\n"
        "quick = dataclasses.replace(presets.STARTER_TASKS['rotate'], learning=10)\n"
        "presets.STARTER_TASKS = {'rotate': quick}\n"
        "print(starter_folder('starter:rotate-0.03m'))"
    )
    children = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [child.communicate(timeout=PATIENCE)[0].strip() for child in children]
    assert answers[0] == answers[1] != ""
    folders = [path for path in (tmp_path / "starter").iterdir() if path.is_dir()]
    assert [str(path) for path in folders] == answers[:1]
    assert {"model.safetensors", "config.json", "tokenizer.json"} <= {path.name for path in folders[0].iterdir()}
