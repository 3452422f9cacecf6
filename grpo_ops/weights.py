"""The hash of saved weights, by which checkpoints and bases are told apart. Standard library only."""

import hashlib
from pathlib import Path


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a checkpoint or model, by name."""
    return sorted(folder.glob("*.safetensors"))


def weights_hash(folder: Path) -> str | None:
    """What `sha256sum` prints for the one weight file; for several, the hash of the lines that it prints.

    None where there is no weight file.
    """
    files = weight_files(folder)
    if len(files) > 1:
        lines = "".join(f"{_sha256(file)}  {file.name}\n" for file in files)
        return hashlib.sha256(lines.encode()).hexdigest()
    return _sha256(files[0]) if files else None


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
