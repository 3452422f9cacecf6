"""The model that is trained and its tokenizer: starter, folder or hub."""

from pathlib import Path
from typing import Any

from grpo_ops.errors import TrainingError
from grpo_ops.specs import LoraSettings, ModelSpec
from grpo_ops.tasks import starter_folder


def load_model(spec: ModelSpec) -> tuple[Any, Any]:
    """Model and tokenizer (padding on the left). Raises TrainingError in one sentence where either cannot be had."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place = _place(spec)
    shared = {"revision": spec.revision, "trust_remote_code": spec.trust_remote_code}
    try:
        tokenizer = AutoTokenizer.from_pretrained(place, padding_side="left", **shared)
        model = AutoModelForCausalLM.from_pretrained(place, dtype=_dtype(spec), use_safetensors=True, **shared)
    except (OSError, ValueError, ImportError, KeyError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise TrainingError(f"the model {spec.id!r} cannot be loaded: {reason}") from error
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return model, tokenizer


def lora_config(settings: LoraSettings | None) -> Any:
    """PEFT's configuration, None for training all weights."""
    if settings is None:
        return None
    from peft import LoraConfig

    return LoraConfig(task_type="CAUSAL_LM", **settings.peft_fields())


def _place(spec: ModelSpec) -> str:
    if spec.is_starter:
        return str(starter_folder(spec.id))
    path = Path(spec.id).expanduser()
    if path.is_dir():
        return str(path.absolute())
    if spec.id.startswith((".", "/", "~")):
        raise TrainingError(f"the model {spec.id!r} cannot be loaded: there is no such folder")
    return spec.id


def _dtype(spec: ModelSpec) -> str:
    """`auto` is the checkpoint's own precision on a GPU; a CPU computes in float32."""
    import torch

    if spec.dtype != "auto":
        return spec.dtype
    return "auto" if torch.cuda.is_available() else "float32"
