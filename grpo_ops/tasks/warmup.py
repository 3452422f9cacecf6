"""Supervised steps that make a starter model: first it learns the task, then to say the right answer but seldom."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from grpo_ops.tasks.presets import StarterTask, starter_task
from grpo_ops.tasks.vocabulary import SEED, WINDOW, task_pairs, tokenizer_for

HEAD_SIZE = 32
LAYERS = 2
BATCH = 64
#: Part of the wrong answers that follow the task's wrong rule; in the others one token is wrong.
RULED = 0.75
#: Steps on the mixture, which come after those on right answers alone; as a part of those.
MIXING = 0.25


@dataclass(frozen=True)
class Examples:
    """Tokenized prompts (padded on the left) and, for each, its right and its ruled wrong answer.

    prompts: (n, longest prompt); right, ruled: (n, longest answer), padded on the right with -100.
    """

    prompts: torch.Tensor
    right: torch.Tensor
    ruled: torch.Tensor


def warmed_up(task: str, parameters: float, share: float) -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast]:
    """A model of `parameters` million weights that answers right with about probability `share`, and its tokenizer."""
    preset = starter_task(task)
    pairs = task_pairs(preset)
    tokenizer = tokenizer_for(preset, pairs)
    with torch.random.fork_rng():
        torch.manual_seed(SEED)
        model = LlamaForCausalLM(model_config(parameters, tokenizer))
        _train(model, _examples(pairs, preset, tokenizer), _steps(preset, parameters), share)
    return model.eval(), tokenizer


def model_config(parameters: float, tokenizer: PreTrainedTokenizerFast) -> LlamaConfig:
    """A Llama of about `parameters` million weights: two layers, heads of 32, tied embeddings."""
    wanted = parameters * 1e6
    # With a feed-forward part about 2.75 times as wide as the model, a layer has 12.25 weights a squared width.
    width = HEAD_SIZE * max(1, round((wanted / (12.25 * LAYERS)) ** 0.5 / HEAD_SIZE))
    rest = wanted - len(tokenizer) * width - LAYERS * 4 * width**2
    return LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=max(32, 8 * round(rest / (LAYERS * 3 * width) / 8)),
        num_hidden_layers=LAYERS,
        num_attention_heads=width // HEAD_SIZE,
        num_key_value_heads=width // HEAD_SIZE,
        max_position_embeddings=WINDOW,
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )


def _train(model: LlamaForCausalLM, examples: Examples, steps: int, share: float) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=_peak(model), betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, steps))
    for prompts, answers in _batches(examples, steps, share):
        loss = _loss(model, prompts, answers)
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()


def _loss(model: LlamaForCausalLM, prompts: torch.Tensor, answers: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of the answers alone: the prompts are data."""
    pad, length = model.config.pad_token_id, answers.shape[1]
    tokens = torch.cat([prompts, answers.masked_fill(answers < 0, pad)], dim=1)
    mask = (tokens != pad).long()
    positions = (mask.cumsum(1) - 1).clamp(min=0)
    output = model(input_ids=tokens, attention_mask=mask, position_ids=positions, logits_to_keep=length + 1)
    return cross_entropy(output.logits[:, :-1].flatten(0, 1), answers.flatten(), ignore_index=-100)


def _batches(examples: Examples, steps: int, share: float) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    count = len(examples.prompts)
    for step in range(steps + round(MIXING * steps)):
        index = torch.randint(count, (BATCH,))
        right = examples.right[index]
        yield examples.prompts[index], right if step < steps else _mixed(examples, index, share)


def _mixed(examples: Examples, index: torch.Tensor, share: float) -> torch.Tensor:
    """Right answers with probability `share`; of the wrong ones RULED follow the rule, the rest have a token wrong."""
    right, draw = examples.right[index], torch.rand(len(index), 1)
    wrong = torch.where(draw < share + (1 - share) * RULED, examples.ruled[index], _damaged(right))
    return torch.where(draw < share, right, wrong)


def _damaged(answers: torch.Tensor) -> torch.Tensor:
    """Each answer with one token (never its end) replaced by another answer's at the same place."""
    others = answers[torch.randperm(len(answers))]
    lengths = (answers >= 0).sum(1, keepdim=True) - 1
    place = (torch.rand(len(answers), 1) * lengths).long()
    spot = torch.arange(answers.shape[1]) == place
    return torch.where(spot & (others >= 0), others, answers)


def _examples(pairs: Sequence[tuple[str, str]], preset: StarterTask, tokenizer: Any) -> Examples:
    questions = [question for question, _ in pairs]
    prompts = tokenizer(questions, padding=True, return_tensors="pt")["input_ids"]
    right = [answer for _, answer in pairs]
    ruled = [preset.mistake(question, answer) for question, answer in pairs]
    encoded = _answers([*right, *ruled], tokenizer)
    return Examples(prompts, encoded[: len(pairs)], encoded[len(pairs) :])


def _answers(texts: Sequence[str], tokenizer: Any) -> torch.Tensor:
    ids = tokenizer(list(texts), add_special_tokens=False)["input_ids"]
    rows = [torch.tensor([*row, tokenizer.eos_token_id]) for row in ids]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-100)


def _steps(preset: StarterTask, parameters: float) -> int:
    """A larger model learns in fewer steps, and each of them costs more."""
    return round(preset.learning * math.sqrt(0.4 / parameters))


def _peak(model: LlamaForCausalLM) -> float:
    """Narrow models take a higher learning rate."""
    return float(min(4e-3, 3e-3 * 128 / model.config.hidden_size))


def _rate(step: int, steps: int) -> float:
    """Linear warm-up, constant, then linear decay over the second half of the learning; low while mixing."""
    if step >= steps:
        return 0.1 * (1 - (step - steps) / (MIXING * steps + 1))
    return min(1.0, (step + 1) / 30, max(0.05, 2 * (1 - step / steps)))
