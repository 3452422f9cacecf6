"""What kind of number a field of a spec takes, found by its dotted path."""

from collections.abc import Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from grpo_ops.errors import SpecError
from grpo_ops.specs.paths import split_path


def is_whole_number(root: type[BaseModel], path: str) -> bool | None:
    """True where the field at `path` takes whole numbers only, False where any number, None where nothing says so.

    Nothing says so inside free tables (`grpo.extra`, `task.config`), for text, and for paths that do not exist.
    """
    try:
        parts = split_path(path)
    except SpecError:
        return None
    numbers = {kind for kind in _leaves(root, parts) if kind in (int, float)}
    if not numbers:
        return None
    return numbers == {int}


def is_optional_table(root: type[BaseModel], path: str) -> bool:
    """Whether the field at `path` is a table that may be left out as a whole (`lora`)."""
    annotation: Any = root
    for part in path.split("."):
        field = next((model.model_fields.get(part) for model in _tables(annotation)), None)
        if field is None:
            return False
        annotation = field.annotation
    return bool(_tables(annotation)) and type(None) in get_args(annotation)


def _tables(annotation: Any) -> list[type[BaseModel]]:
    kinds = (annotation, *get_args(annotation))
    return [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]


def _leaves(annotation: Any, parts: Sequence[str]) -> list[Any]:
    """The plain types at `parts` below `annotation`: through optional fields, nested specs and lists of them."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        field = annotation.model_fields.get(parts[0]) if parts else None
        return _leaves(field.annotation, parts[1:]) if field else []
    if get_origin(annotation) in (tuple, list):
        return [leaf for item in get_args(annotation) if parts for leaf in _leaves(item, parts[1:])]
    if get_args(annotation) and get_origin(annotation) is not dict:
        return [leaf for choice in get_args(annotation) for leaf in _leaves(choice, parts)]
    return [] if parts else [annotation]
