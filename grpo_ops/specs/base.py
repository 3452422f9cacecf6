"""What all specs share: strict, frozen, and faults that name the dotted path, the value and what to do."""

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any, Self, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from grpo_ops.errors import SpecError

_FEW = 12


class Spec(BaseModel):
    """Base of everything that a person writes. Unknown keys are refused, values are checked, nothing changes later."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_default=True, use_attribute_docstrings=True, allow_inf_nan=False
    )

    @classmethod
    def checked(cls, data: Any, source: str) -> Self:
        """Validate `data`; raises SpecError with every fault listed, `source` says where the data came from."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise SpecError(source, _faults(cls, data, error)) from None


def _faults(root: type[BaseModel], data: Any, error: ValidationError) -> list[str]:
    """All faults: those that settings have together are looked for again without the unknown keys that hide them."""
    items = list(error.errors())
    unknown = [item["loc"] for item in items if item["type"] == "extra_forbidden"]
    if unknown:
        try:
            root.model_validate(_without(data, unknown))
        except ValidationError as more:
            items += more.errors()
    return list(dict.fromkeys(fault for item in items for fault in _sentences(root, item)))


def _without(data: Any, locations: Sequence[tuple[int | str, ...]], here: tuple[int | str, ...] = ()) -> Any:
    """A copy of `data` that lacks the values at `locations`."""
    if isinstance(data, dict):
        kept = {key: value for key, value in data.items() if (*here, key) not in locations}
        return {key: _without(value, locations, (*here, key)) for key, value in kept.items()}
    if isinstance(data, list | tuple):
        return [_without(value, locations, (*here, index)) for index, value in enumerate(data)]
    return data


def _sentences(root: type[BaseModel], item: Any) -> list[str]:
    path = ".".join(str(part) for part in _named(item["loc"])) or "(the whole spec)"
    if item["type"] == "extra_forbidden":
        return [f"{path}: unknown key{_nearest(root, item['loc'])}"]
    if item["type"] == "missing":
        return [f"{path}: is missing and has no default"]
    if item["type"] == "literal_error":
        return [f"{path}: {item['input']!r:.80} is not known here{_nearest_word(item)}"]
    message = item["msg"].removeprefix("Value error, ")
    if item["type"] == "value_error":
        return [_placed(line, path) if item["loc"] else line for line in message.split("\n")]
    return [f"{path}: {message[0].lower()}{message[1:]}, but got {item['input']!r:.80}"]


def _named(location: Sequence[int | str]) -> Sequence[int | str]:
    """The location without the types that pydantic appends where a field takes several."""
    return (
        location[:-1] if re.match(r"(int|float|str|bool|tuple\[.*)$", str(location[-1:] and location[-1])) else location
    )


def _placed(line: str, path: str) -> str:
    """`line` at `path`; a line that starts with a key inside (`num_generations: ...`) continues the path."""
    return f"{path}.{line}" if re.match(r"[a-z_][a-z0-9_.]*: ", line) else f"{path}: {line}"


def _nearest_word(item: Any) -> str:
    known = re.findall(r"'([^']*)'", item["ctx"]["expected"])
    close = difflib.get_close_matches(str(item["input"]), known, n=1, cutoff=0.5)
    if len(known) <= _FEW:
        return f"; known: {', '.join(known)}"
    return f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(known[:_FEW])}, ..."


def _nearest(root: type[BaseModel], location: Sequence[int | str]) -> str:
    known = _fields_at(root, location[:-1])
    close = difflib.get_close_matches(str(location[-1]), known, n=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; known here: {', '.join(sorted(known))}" if known else ""


def _fields_at(root: type[BaseModel], path: Iterable[int | str]) -> list[str]:
    models = [root]
    for part in path:
        fields = [model.model_fields[str(part)] for model in models if str(part) in model.model_fields]
        if fields:
            models = [found for field in fields for found in _models_in(field.annotation)]
        elif not isinstance(part, int):  # the tag of a union: stay where we are
            continue
    return sorted({name for model in models for name in model.model_fields})


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for part in get_args(annotation) for found in _models_in(part)]
