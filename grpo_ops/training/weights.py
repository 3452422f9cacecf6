"""Saved weights: their hash, and whether a model in memory holds them. Torch is imported on use."""

import hashlib
from pathlib import Path
from typing import Any

from grpo_ops.errors import TrainingError


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a checkpoint, by name."""
    return sorted(folder.glob("*.safetensors"))


def weights_sha256(folder: Path) -> str:
    """What `sha256sum` prints for the one weight file; for several, the hash of the lines that it prints.

    Raises TrainingError where there is no weight file.
    """
    files = weight_files(folder)
    if not files:
        raise TrainingError(f"{folder} holds no safetensors")
    hashes = [_sha256(file) for file in files]
    if len(files) == 1:
        return hashes[0]
    lines = "".join(f"{digest}  {file.name}\n" for digest, file in zip(hashes, files, strict=True))
    return hashlib.sha256(lines.encode()).hexdigest()


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


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
