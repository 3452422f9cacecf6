"""An Architecture from a config: the model is made on torch's meta device, so no weight is loaded or stored."""

import warnings
from pathlib import Path
from typing import Any

from grpo_ops.errors import PlanError, TaskError
from grpo_ops.planning.architecture import Architecture
from grpo_ops.planning.modules import Reading, read_modules
from grpo_ops.specs import LoraSettings, ModelSpec
from grpo_ops.tasks.starter import Recipe
from grpo_ops.tasks.vocabulary import task_tokenizer


def read_model(model: ModelSpec, lora: LoraSettings | None) -> tuple[Architecture, Any]:
    """The architecture and the tokenizer of `model`. Raises PlanError where its config or tokenizer cannot be had."""
    config, tokenizer = _config_and_tokenizer(model)
    return architecture_of(config, lora, trust_remote_code=model.trust_remote_code), tokenizer


def architecture_of(config: Any, lora: LoraSettings | None = None, *, trust_remote_code: bool = False) -> Architecture:
    """The architecture of a transformers config under the LoRA settings; None trains all weights.

    Parameters are counted on the meta device, the adapter's by PEFT itself; both are exact. Raises PlanError where
    transformers or PEFT refuses.
    """
    model = _on_meta(config, trust_remote_code)
    parameters = sum(weight.numel() for weight in model.parameters())
    head, embedding = model.get_output_embeddings(), model.get_input_embeddings()
    model = _adapted(model, lora)
    trainable = sum(weight.numel() for weight in model.parameters() if weight.requires_grad)
    return read_modules(
        Reading(
            model=model,
            config=config,
            head=head,
            parameters=parameters,
            trainable=trainable,
            adapter=sum(weight.numel() for weight in model.parameters()) - parameters,
            trains_embedding=embedding.weight.requires_grad,
        )
    )


def _config_and_tokenizer(model: ModelSpec) -> tuple[Any, Any]:
    if model.is_starter:
        return _starter(model.id)
    from transformers import AutoConfig, AutoTokenizer

    path = Path(model.id).expanduser()
    place = str(path.absolute()) if path.is_dir() else model.id
    options = {"revision": model.revision, "trust_remote_code": model.trust_remote_code}
    try:
        return AutoConfig.from_pretrained(place, **options), AutoTokenizer.from_pretrained(place, **options)
    except (OSError, ValueError, ImportError, KeyError) as error:
        where = "this folder" if path.exists() else "the hub or its cache"
        raise PlanError(f"model.id: {model.id!r} cannot be had from {where}: {_first_line(error)}") from None


def _starter(model_id: str) -> tuple[Any, Any]:
    try:
        recipe = Recipe.of(model_id)
        tokenizer = task_tokenizer(recipe.task)
    except TaskError as error:
        raise PlanError(f"model.id: {error}") from None
    from grpo_ops.tasks.warmup import model_config

    return model_config(recipe.parameters, tokenizer), tokenizer


def _on_meta(config: Any, trust_remote_code: bool) -> Any:
    import torch
    from transformers import AutoModelForCausalLM

    try:
        with torch.device("meta"):
            return AutoModelForCausalLM.from_config(config, trust_remote_code=trust_remote_code)
    except (ValueError, ImportError, KeyError) as error:
        kind = getattr(config, "model_type", type(config).__name__)
        raise PlanError(f"model.id: transformers makes no language model of a {kind!r}: {_first_line(error)}") from None


def _adapted(model: Any, lora: LoraSettings | None) -> Any:
    if lora is None:
        return model
    from peft import LoraConfig, get_peft_model

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PEFT uses names that transformers has deprecated
            return get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", **lora.peft_fields()))
    except (ValueError, TypeError) as error:
        raise PlanError(f"lora: PEFT cannot adapt a {model.config.model_type!r} so: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
