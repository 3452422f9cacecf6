"""evaluate(): held-out prompts through transformers' generate, with decoding that never changes."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from transformers import GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase

from grpo_ops.curve import Evaluation
from grpo_ops.evaluation.digest import evaluation_digest
from grpo_ops.specs import EvaluationSpec
from grpo_ops.tasks import Prompt, Reward, Row

#: What TRL passes besides the columns, for rewards that name it.
_TRL: dict[str, Any] = {"trainer_state": None, "log_extra": lambda *_: None, "log_metric": lambda *_: None}


def evaluate(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[Row],
    rewards: Sequence[Reward],
    spec: EvaluationSpec,
    max_completion_length: int,
    step: int = 0,
) -> Evaluation:
    """Score `model` on `rows`: one outcome a prompt, the sum of its rewards by eval_weight, None where none applies.

    Rewards whose eval_weight is 0 are left out. The same weights give the same outcomes at every call; the caller's
    random state and the model's mode are left as they were. Raises RewardError as the rewards do.
    """
    rewards = [reward for reward in rewards if reward.eval_weight] or list(rewards)
    outcomes: list[float | None] = []
    with _decoding(model, tokenizer, spec, max_completion_length):
        for start in range(0, len(rows), spec.batch_size):
            batch = rows[start : start + spec.batch_size]
            outcomes += _scored(batch, _complete(model, tokenizer, batch), tokenizer, rewards)
    digest = evaluation_digest(rows, rewards, spec, max_completion_length)
    return Evaluation(step, tuple(outcomes), tuple(row.id for row in rows), digest)


def _complete(model: Any, tokenizer: Any, rows: Sequence[Row]) -> list[list[int]]:
    """Token ids of one completion a row, up to and with its end token."""
    inputs = tokenizer.pad({"input_ids": _tokenized(tokenizer, [row.prompt for row in rows])}, return_tensors="pt")
    inputs = {name: inputs[name].to(model.device) for name in ("input_ids", "attention_mask")}
    tokens = model.generate(**inputs)[:, inputs["input_ids"].shape[1] :].tolist()
    ends = _end_ids(model.generation_config.eos_token_id)
    return [_upto_end(row, ends) for row in tokens]


def _tokenized(tokenizer: Any, prompts: Sequence[Prompt]) -> list[list[int]]:
    """As TRL does it: text as it stands, messages through the chat template."""
    if isinstance(prompts[0], str):
        return list(tokenizer(list(prompts))["input_ids"])
    encoded = tokenizer.apply_chat_template(list(prompts), add_generation_prompt=True, tokenize=True, return_dict=True)
    return list(encoded["input_ids"])


def _scored(rows: Sequence[Row], ids: list[list[int]], tokenizer: Any, rewards: Sequence[Reward]) -> list[float | None]:
    texts = tokenizer.batch_decode(ids, skip_special_tokens=True)
    chat = not isinstance(rows[0].prompt, str)
    completions = [[{"role": "assistant", "content": text}] if chat else text for text in texts]
    fields = [row.fields() for row in rows]
    columns: dict[str, Any] = {name: [row[name] for row in fields] for name in fields[0] if name != "prompt"}
    prompts = [row.prompt for row in rows]
    scores = [reward(prompts, completions, completion_ids=ids, **columns, **_TRL) for reward in rewards]
    return [_weighted(values, rewards) for values in zip(*scores, strict=True)]


def _weighted(values: Sequence[float | None], rewards: Sequence[Reward]) -> float | None:
    parts = [reward.eval_weight * value for value, reward in zip(values, rewards, strict=True) if value is not None]
    return math.fsum(parts) if parts else None


@contextmanager
def _decoding(model: Any, tokenizer: Any, spec: EvaluationSpec, length: int) -> Iterator[None]:
    """The model in evaluation mode with our own generation settings and random state; all put back afterwards."""
    was_training, own_config = model.training, model.generation_config
    padding, tokenizer.padding_side = tokenizer.padding_side, "left"
    # The whole config is replaced: settings that came with a model (top_k, min_p, ...) would else leak in.
    model.generation_config = _config(own_config, tokenizer, spec, length)
    model.eval()
    try:
        with torch.random.fork_rng(), torch.no_grad():
            torch.manual_seed(spec.seed)
            yield
    finally:
        model.train(was_training)
        model.generation_config, tokenizer.padding_side = own_config, padding


def _config(own: GenerationConfig, tokenizer: Any, spec: EvaluationSpec, length: int) -> GenerationConfig:
    sampling = {"do_sample": True, "temperature": spec.temperature, "top_p": spec.top_p, "top_k": 0}
    return GenerationConfig(
        max_new_tokens=length,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=sorted({tokenizer.eos_token_id, *_end_ids(own.eos_token_id)}),
        **(sampling if spec.temperature > 0 else {"do_sample": False}),
    )


def _end_ids(ids: int | list[int] | None) -> set[int]:
    return set() if ids is None else {ids} if isinstance(ids, int) else set(ids)


def _upto_end(ids: list[int], ends: set[int]) -> list[int]:
    for index, token in enumerate(ids):
        if token in ends:
            return ids[: index + 1]
    return ids
