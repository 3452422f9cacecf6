"""evaluate(): fixed decoding, an untouched trainer, outcomes that can be paired, digests that tell settings apart."""

import random

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from grpo_ops.evaluation import evaluate, evaluation_digest
from grpo_ops.specs import EvaluationSpec, RewardSpec, TaskSpec
from grpo_ops.tasks import Reward, load_rewards, load_task, starter_folder

GREEDY = EvaluationSpec(prompts=64, batch_size=24)
SAMPLED = GREEDY.model_copy(update={"temperature": 1.0})


@pytest.fixture(scope="module")
def bench(starter_cache):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRPO_OPS_CACHE", str(starter_cache))
        folder = starter_folder("starter:arith-xs")
    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    task = load_task(TaskSpec(source="starter", name="arith", train_size=64), EvaluationSpec(prompts=256))
    return model, tokenizer, task, load_rewards([RewardSpec(name="reasoning_gym")], task, allow_import_paths=False)


def test_an_untrained_starter_model_is_right_between_a_tenth_and_half_of_the_time(bench):
    model, tokenizer, task, rewards = bench
    for spec in (GREEDY, SAMPLED):
        assert 0.1 < evaluate(model, tokenizer, task.eval, rewards, spec, 8).mean < 0.5


@pytest.mark.parametrize("spec", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
def test_every_call_gives_the_same_and_disturbs_nothing(bench, spec):
    model, tokenizer, task, rewards = bench
    model.train()
    own_config, states = model.generation_config, (torch.get_rng_state(), random.getstate())
    first = evaluate(model, tokenizer, task.eval[:64], rewards, spec, 8, step=7)
    assert torch.equal(torch.get_rng_state(), states[0])
    assert random.getstate() == states[1]
    assert model.training
    assert model.generation_config is own_config
    torch.rand(3)
    assert evaluate(model, tokenizer, task.eval[:64], rewards, spec, 8, step=7) == first
    assert first.prompt_ids == tuple(row.id for row in task.eval[:64])


def test_the_size_of_a_batch_does_not_change_greedy_outcomes(bench):
    model, tokenizer, task, rewards = bench
    results = [
        evaluate(model, tokenizer, task.eval, rewards, GREEDY.model_copy(update={"batch_size": size}), 8)
        for size in (7, 256)
    ]
    assert results[0] == results[1]


def test_a_generation_config_that_came_with_the_model_does_not_leak_in(bench):
    model, tokenizer, task, rewards = bench
    expected = evaluate(model, tokenizer, task.eval[:64], rewards, SAMPLED, 8).outcomes
    model.generation_config.top_k, model.generation_config.repetition_penalty = 1, 5.0
    try:
        assert evaluate(model, tokenizer, task.eval[:64], rewards, SAMPLED, 8).outcomes == expected
    finally:
        model.generation_config.top_k, model.generation_config.repetition_penalty = None, None


def test_outcomes_are_weighted_sums_and_none_where_no_reward_applies(bench):
    model, tokenizer, task, _ = bench
    rows = task.eval[:4]
    odd = {row.id for row in rows[1::2]}

    def only_even(prompts, completions, id, **_):
        return [None if own in odd else 1.0 for own in id]

    def nobody(prompts, completions, **_):
        return [None] * len(prompts)

    def all_alike(prompts, completions, trainer_state, **_):
        return [3.0] * len(prompts)

    some = [Reward(only_even, "even", 0.5, {}), Reward(nobody, "nobody", 1.0, {})]
    assert evaluate(model, tokenizer, rows, some, GREEDY, 8).outcomes == (0.5, None, 0.5, None)
    more = [*some, Reward(all_alike, "alike", 2.0, {})]
    assert evaluate(model, tokenizer, rows, more, GREEDY, 8).outcomes == (6.5, 6.0, 6.5, 6.0)


def test_messages_are_decoded_like_the_same_text(bench):
    model, tokenizer, task, rewards = bench
    chat = [
        type(row)(row.id, [{"role": "user", "content": row.prompt}], row.answer, row.columns) for row in task.eval[:32]
    ]
    plain = evaluate(model, tokenizer, task.eval[:32], rewards, GREEDY, 8)
    assert evaluate(model, tokenizer, chat, rewards, GREEDY, 8).outcomes == plain.outcomes


def test_the_digest_tells_apart_what_cannot_be_compared(bench):
    _, _, task, rewards = bench
    (heavier,) = load_rewards([RewardSpec(name="reasoning_gym", weight=2.0)], task, allow_import_paths=False)
    digests = [
        evaluation_digest(task.eval, rewards, GREEDY, 8),
        evaluation_digest(task.eval[:9], rewards, GREEDY, 8),
        evaluation_digest(task.eval, rewards, SAMPLED, 8),
        evaluation_digest(task.eval, rewards, SAMPLED.model_copy(update={"seed": 1}), 8),
        evaluation_digest(task.eval, rewards, GREEDY, 9),
        evaluation_digest(task.eval, [heavier], GREEDY, 8),
    ]
    assert len(set(digests)) == len(digests)
    assert all(len(digest) <= 36 for digest in digests)
    other_batches = GREEDY.model_copy(update={"batch_size": 5, "every": 3})
    assert evaluation_digest(task.eval, rewards, other_batches, 8) == digests[0]
