"""Which of several processes this is: the first one speaks, the others are mute, except for why they failed."""

import json
import os
import re
import time
from typing import Any

from grpo_ops.journal import Journal, RunFolder, write_atomically

_OTHERS_PATIENCE_SECONDS = 1.0
_LOST_PEER = re.compile(r"gloo|nccl|c10d|connection (closed|reset)|process group", re.IGNORECASE)


def is_first_rank() -> bool:
    """Whether this process is rank 0 of its launcher, or the only one."""
    return _rank() == 0


def open_journal(folder: RunFolder, attempt: int) -> Journal:
    """The run's journal, which rank 0 alone writes."""
    return (Journal if is_first_rank() else _MuteJournal)(folder.journal, attempt)


def say_failure(folder: RunFolder, attempt: int, message: str) -> None:
    """Leave the reason why this rank failed, which is not the first one, where the first one finds it."""
    write_atomically(_file(folder, _rank()), json.dumps({"attempt": attempt, "message": message}))


def is_left_alone(message: str) -> bool:
    """Whether a rank failed of no more than that another one is gone."""
    return _world() > 1 and _LOST_PEER.search(message) is not None


def failure_elsewhere(folder: RunFolder, attempt: int) -> str | None:
    """What another rank than the first one failed of; None where none has said so within a second."""
    deadline = time.monotonic() + _OTHERS_PATIENCE_SECONDS
    while _world() > 1:
        for rank in range(1, _world()):
            said = folder.read_json(_file(folder, rank))
            if said is not None and said["attempt"] == attempt and not is_left_alone(said["message"]):
                return f"{said['message']} (on rank {rank})"
        if time.monotonic() > deadline:
            break
        time.sleep(0.1)
    return None


def _rank() -> int:
    return int(os.environ.get("RANK", "0"))


def _world() -> int:
    return int(os.environ.get("WORLD_SIZE", "1"))


def _file(folder: RunFolder, rank: int) -> Any:
    return folder.path / f"failed-rank-{rank}.json"


class _MuteJournal(Journal):
    def __init__(self, path: Any, attempt: int) -> None:
        self.path = path
        self.attempt = attempt

    def append(self, kind: str, **fields: Any) -> None:
        """Write nothing."""

    def close(self) -> None:
        """Nothing is open."""
