"""Who else may end a run: SIGTERM (preemption), and the supervisor's death."""

import ctypes
import os
import signal
import sys
import threading
import time
from typing import Any

import psutil

from grpo_ops.training.assignment import Process

#: After SIGTERM the running step may take so long; then the trainer leaves with the checkpoint that it has.
PATIENCE_SECONDS = 6.0
_PR_SET_PDEATHSIG = 1


class Preempted(BaseException):
    """Raised in the main thread when there is no time left. No Exception: a reward's `except` must not catch it."""


class Interruption:
    """Notes SIGTERM and watches the supervisor. `worth_saving`: whether steps would be lost without a checkpoint."""

    def __init__(self, supervisor: Process | None) -> None:
        self.supervisor = supervisor
        self.worth_saving = False
        self._deadline: float | None = None

    def install(self) -> None:
        """Ignore SIGINT, handle SIGTERM, and ask the kernel for a SIGTERM when the parent dies (Linux)."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, self._note)
        end_with_parent()

    def over(self) -> None:
        """From here on a SIGTERM changes nothing: how the run ended is being written."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def request(self) -> dict[str, str] | None:
        """`{"reason", "message"}` where the run is to end, else None."""
        if self.supervisor is not None and not is_running(self.supervisor):
            return {"reason": "preempted", "message": f"the supervisor (process {self.supervisor.pid}) is gone"}
        return None if self._deadline is None else {"reason": "preempted", "message": "SIGTERM"}

    def _note(self, _number: int, _frame: Any) -> None:
        if not self.worth_saving:
            self._deadline = time.monotonic()
            raise Preempted
        if self._deadline is None:
            self._deadline = time.monotonic() + PATIENCE_SECONDS
            timer = threading.Timer(PATIENCE_SECONDS + 0.1, os.kill, (os.getpid(), signal.SIGTERM))
            timer.daemon = True
            timer.start()
        elif time.monotonic() > self._deadline:
            raise Preempted


def end_with_parent() -> None:
    """Ask the kernel for a SIGTERM when the parent dies (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def is_running(process: Process) -> bool:
    """Whether that very process runs; a zombie does not."""
    try:
        found = psutil.Process(process.pid)
        same = process.started is None or abs(found.create_time() - process.started) < 1.0
        return same and found.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
