"""Saved weights: their hash, and whether a model in memory holds them. Torch is imported on use."""

from pathlib import Path
from typing import Any

from grpo_ops.errors import TrainingError
from grpo_ops.weights import weight_files, weights_hash


def weights_sha256(folder: Path) -> str:
    """The hash of a checkpoint that must have weights. Raises TrainingError where there is no weight file."""
    digest = weights_hash(folder)
    if digest is None:
        raise TrainingError(f"{folder} holds no safetensors")
    return digest


def check_in_memory(model: Any, folder: Path) -> None:
    """Raises TrainingError unless `model` (PEFT or plain) holds the very weights that `folder` does."""
    import torch
    from safetensors.torch import load_file

    memory = _state(model)
    for file in weight_files(folder):
        for name, saved in load_file(file).items():
            own = memory.get(name)
            if own is None or not torch.equal(own.cpu(), saved.to(own.dtype)):
                what = "is missing" if own is None else "differs"
                raise TrainingError(f"{folder} was not loaded: {name} {what} in memory; the run would go on fresh")


def _state(model: Any) -> dict[str, Any]:
    if not hasattr(model, "peft_config"):
        return dict(model.state_dict())
    from peft import get_peft_model_state_dict

    return dict(get_peft_model_state_dict(model))
