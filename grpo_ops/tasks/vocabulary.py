"""What a starter model reads and writes: a task's questions and answers, and the tokenizer made of their characters."""

import random
from typing import TYPE_CHECKING

from grpo_ops.tasks.presets import StarterTask, starter_task
from grpo_ops.tasks.sources import procedural
from grpo_ops.tasks.tokenizer import character_tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

#: Longest sequence of a starter model, in tokens.
WINDOW = 256
EXAMPLES = 20_000
SEED = 20_240_731


def task_tokenizer(task: str) -> "PreTrainedTokenizerFast":
    """The tokenizer of every starter model of this task; needs no model. Raises TaskError for an unknown task."""
    preset = starter_task(task)
    return tokenizer_for(preset, task_pairs(preset))


def tokenizer_for(preset: StarterTask, pairs: list[tuple[str, str]]) -> "PreTrainedTokenizerFast":
    """A tokenizer for the characters of `pairs`; the preset's phrases are one token each."""
    return character_tokenizer((text for pair in pairs for text in pair), preset.phrases, WINDOW)


def task_pairs(preset: StarterTask) -> list[tuple[str, str]]:
    """Different questions with their right answers, in an order that is always the same."""
    dataset = procedural(preset.dataset, preset.config, EXAMPLES, SEED)
    entries = (dataset[index] for index in range(EXAMPLES))
    pairs = list({entry["question"]: entry["answer"] for entry in entries}.items())
    random.Random(SEED).shuffle(pairs)
    return pairs
