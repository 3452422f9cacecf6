"""Notes on many curves, each sentence once."""

from collections import defaultdict
from collections.abc import Iterable

_MOST_NAMES = 3


def grouped(notes: Iterable[tuple[str, str]]) -> list[str]:
    """Lines of (name, note) pairs: a note that many curves have in common is said once, with up to three names."""
    names: dict[str, list[str]] = defaultdict(list)
    for name, note in notes:
        names[note].append(name)
    return [f"note: {note} ({_few(found)})" for note, found in names.items()]


def _few(names: list[str]) -> str:
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return f"{len(names)} curves"
