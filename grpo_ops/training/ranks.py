"""Which of several processes this is: the first one speaks, the others are mute."""

import os
from typing import Any

from grpo_ops.journal import Journal, RunFolder


def is_first_rank() -> bool:
    """Whether this process is rank 0 of its launcher, or the only one."""
    return os.environ.get("RANK", "0") == "0"


def open_journal(folder: RunFolder, attempt: int) -> Journal:
    """The run's journal, which rank 0 alone writes."""
    return (Journal if is_first_rank() else _MuteJournal)(folder.journal, attempt)


class _MuteJournal(Journal):
    def __init__(self, path: Any, attempt: int) -> None:
        self.path = path
        self.attempt = attempt

    def append(self, kind: str, **fields: Any) -> None:
        """Write nothing."""

    def close(self) -> None:
        """Nothing is open."""
