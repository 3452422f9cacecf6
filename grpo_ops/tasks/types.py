"""The nouns of a task: a prompt with what is known about it, and the two disjoint sets of them."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

#: Text, or a list of messages `{"role", "content"}`.
Prompt: TypeAlias = str | list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Row:
    """One prompt, its right answer, and every other column of its source (reward functions get them by name)."""

    id: str
    prompt: Prompt
    answer: str
    columns: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, prompt: Prompt, answer: str, columns: Mapping[str, Any]) -> "Row":
        """A row whose id is a hash of prompt and answer: the same text has the same id everywhere."""
        digest = hashlib.sha256(f"{prompt_text(prompt)}\0{answer}".encode()).hexdigest()
        return cls(digest[:16], prompt, answer, columns)

    def fields(self) -> dict[str, Any]:
        """The row as a trainer takes it: `prompt`, `answer`, `id` and the other columns."""
        return {**self.columns, "prompt": self.prompt, "answer": self.answer, "id": self.id}


@dataclass(frozen=True, slots=True)
class Task:
    """Training and held-out rows, disjoint by prompt text.

    score: the source's own scorer `(completion, {"question", "answer", "metadata"}) -> reward`, where it has one; it
    gives None for a row that it does not know (in a mixture).
    """

    train: tuple[Row, ...]
    eval: tuple[Row, ...]
    score: Callable[[str, dict[str, Any]], float | None] | None = None


def prompt_text(prompt: Prompt) -> str:
    """The text by which two prompts are told apart."""
    return prompt if isinstance(prompt, str) else json.dumps(prompt, sort_keys=True, ensure_ascii=False)


def last_text(message: Any) -> str:
    """The text of a prompt or completion: itself, or the content of its last message."""
    if isinstance(message, str):
        return message
    content = message[-1].get("content") if message else ""
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
