"""Which model an adapter belongs to, by name and by hash: an adapter without its base is worth nothing."""

import hashlib
import json
from pathlib import Path

from grpo_ops.registry.types import Base


def base_of(adapter_config: str | None, named: str, revision: str | None) -> Base:
    """The base of an adapter, from its `adapter_config.json` (as text; None for full weights) and the spec's words."""
    if adapter_config is None:
        return Base(named, revision)
    place = str(json.loads(adapter_config).get("base_model_name_or_path") or named)
    if not _is_local(place):
        return Base(named, revision)
    return Base(named, revision, place, weights_hash(Path(place)))


def weights_hash(folder: Path) -> str | None:
    """What `sha256sum` prints for the one safetensors file of a model; for several, the hash of the lines it prints.

    None where there is no such file.
    """
    lines = [f"{_sha256(path)}  {path.name}\n" for path in sorted(folder.glob("*.safetensors"))]
    if len(lines) > 1:
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    return lines[0].split()[0] if lines else None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_local(place: str) -> bool:
    return place.startswith(("/", ".", "~")) or Path(place).is_dir()
