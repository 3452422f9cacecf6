"""The model's files without its weights: is it there, and do the prompts fit into its window."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grpo_ops.errors import TaskError
from grpo_ops.specs import ModelSpec, RunSpec
from grpo_ops.tasks import Prompt, Task, prompt_text
from grpo_ops.tasks.starter import Recipe
from grpo_ops.tasks.vocabulary import WINDOW, task_tokenizer


@dataclass(frozen=True)
class ModelFiles:
    """A model's tokenizer and the longest sequence it takes, in tokens (None where its config does not say)."""

    tokenizer: Any
    window: int | None


def model_files(model: ModelSpec) -> tuple[ModelFiles | None, str | None]:
    """The files, and None; or None and a sentence that says why the model cannot be had."""
    try:
        if model.is_starter:
            return ModelFiles(task_tokenizer(Recipe.of(model.id).task), WINDOW), None
        return _pretrained(model), None
    except TaskError as error:
        return None, str(error)
    except (OSError, ValueError) as error:
        where = "this folder" if Path(model.id).exists() else "the hub or its cache"
        return None, f"{model.id!r} cannot be had from {where}: {str(error).splitlines()[0][:200]}"


def window_faults(spec: RunSpec, task: Task, files: ModelFiles) -> Iterator[str]:
    """Prompts that leave no room for a completion: TRL would crash or hang on them in the middle of a run."""
    if files.window is None:
        return
    lengths = [prompt_length(files.tokenizer, row.prompt) for row in (*task.train, *task.eval)]
    room = files.window - spec.grpo.max_completion_length
    too_long = sum(1 for length in lengths if length > room)
    if too_long:
        yield (
            f"task: {too_long} of {len(lengths)} prompts are longer than {room} tokens (the longest: {max(lengths)}): "
            f"{spec.model.id!r} has a window of {files.window}, of which grpo.max_completion_length = "
            f"{spec.grpo.max_completion_length} is kept for the answer; shorten the prompts or max_completion_length"
        )


def prompt_length(tokenizer: Any, prompt: Prompt) -> int:
    """Tokens of a prompt as the trainer sees it: messages through the chat template, text as it is."""
    if isinstance(prompt, str):
        return len(tokenizer(prompt_text(prompt))["input_ids"])
    rendered = tokenizer.apply_chat_template(prompt, add_generation_prompt=True, tokenize=False)
    return len(tokenizer(rendered, add_special_tokens=False)["input_ids"])


def _pretrained(model: ModelSpec) -> ModelFiles:
    from transformers import AutoConfig, AutoTokenizer

    options = {"revision": model.revision, "trust_remote_code": model.trust_remote_code}
    config = AutoConfig.from_pretrained(model.id, **options)
    text_config = config.get_text_config()
    return ModelFiles(
        AutoTokenizer.from_pretrained(model.id, **options), getattr(text_config, "max_position_embeddings", None)
    )
