"""The model's files without its weights: is it there, and do the prompts fit into its window."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grpo_ops.errors import TaskError
from grpo_ops.specs import ModelSpec, RunSpec
from grpo_ops.tasks import Task, prompt_length
from grpo_ops.tasks.starter import Recipe
from grpo_ops.tasks.vocabulary import WINDOW, task_tokenizer


@dataclass(frozen=True)
class ModelFiles:
    """A model's tokenizer, the longest sequence it takes, and the eos ids of its generation_config.

    window: in tokens; None where the model's config does not say.
    """

    tokenizer: Any
    window: int | None
    eos: tuple[int, ...] = ()


def model_files(model: ModelSpec) -> tuple[ModelFiles | None, str | None]:
    """The files, and None; or None and a sentence that says why the model cannot be had."""
    try:
        if model.is_starter:
            tokenizer = task_tokenizer(Recipe.of(model.id).task)
            return ModelFiles(tokenizer, WINDOW, (tokenizer.eos_token_id,)), None
        return _pretrained(model), None
    except TaskError as error:
        return None, str(error)
    except (OSError, ValueError) as error:
        where = "this folder" if Path(model.id).exists() else "the hub or its cache"
        return None, f"{model.id!r} cannot be had from {where}: {str(error).splitlines()[0][:200]}"


def window_faults(spec: RunSpec, task: Task, files: ModelFiles) -> Iterator[str]:
    """Prompts that leave no room for a completion: TRL would crash or hang on them in the middle of a run.

    Raises TaskError as prompt_length does.
    """
    if files.window is None:
        return
    lengths = [prompt_length(files.tokenizer, row.prompt) for row in (*task.train, *task.eval)]
    room = files.window - spec.grpo.max_completion_length
    too_long = sum(1 for length in lengths if length > room)
    if too_long:
        yield (
            f"task: {too_long} of {len(lengths)} prompts are longer than {room} tokens (the longest: {max(lengths)}): "
            f"{spec.model.id!r} has a window of {files.window}, of which grpo.max_completion_length = "
            f"{spec.grpo.max_completion_length} is kept for the answer; shorten the prompts or max_completion_length, "
            'or leave them out with task.too_long = "filter"'
        )


def _pretrained(model: ModelSpec) -> ModelFiles:
    from transformers import AutoConfig, AutoTokenizer

    options = {"revision": model.revision, "trust_remote_code": model.trust_remote_code}
    config = AutoConfig.from_pretrained(model.id, **options)
    return ModelFiles(
        AutoTokenizer.from_pretrained(model.id, **options),
        getattr(config.get_text_config(), "max_position_embeddings", None),
        _eos_ids(model, config),
    )


def _eos_ids(model: ModelSpec, config: Any) -> tuple[int, ...]:
    """As the model would have them once loaded: from generation_config.json, else from its config."""
    from transformers import GenerationConfig

    try:
        found = GenerationConfig.from_pretrained(model.id, revision=model.revision).eos_token_id
    except OSError:  # a model need not have that file
        found = GenerationConfig.from_model_config(config).eos_token_id
    return () if found is None else (found,) if isinstance(found, int) else tuple(found)
