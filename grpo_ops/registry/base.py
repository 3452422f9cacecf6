"""Which model an adapter belongs to, by name and by hash: an adapter without its base is worth nothing."""

import json
from pathlib import Path

from grpo_ops.registry.types import Base
from grpo_ops.weights import weights_hash


def base_of(adapter_config: str | None, named: str, revision: str | None) -> Base:
    """The base of an adapter, from its `adapter_config.json` (as text; None for full weights) and the spec's words."""
    if adapter_config is None:
        return Base(named, revision)
    place = str(json.loads(adapter_config).get("base_model_name_or_path") or named)
    if not _is_local(place):
        return Base(named, revision)
    return Base(named, revision, place, weights_hash(Path(place)))


def _is_local(place: str) -> bool:
    return place.startswith(("/", ".", "~")) or Path(place).is_dir()
