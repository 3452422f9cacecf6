"""A child process with all that it starts: it is asked to end, then killed, and nothing of it is left."""

import contextlib
import subprocess
import time
from dataclasses import dataclass, field

import psutil

from grpo_ops.processes import is_running

#: A trainer that is asked to end (SIGTERM) has so long to save a checkpoint before its process tree is killed.
TERMINATION_GRACE_SECONDS = 8.0
_LOOK_SECONDS = 1.0


@dataclass
class ChildTrainer:
    """A trainer that is a child process of this one. Its descendants are noted, and none outlives it."""

    process: subprocess.Popen[bytes]
    failure: str | None = None
    is_starting: bool = False
    _family: dict[int, psutil.Process] = field(default_factory=dict)
    _looked: float = 0.0
    _asked: float | None = None

    def returncode(self) -> int | None:
        code = self.process.poll()
        if code is not None:
            _kill_all(list(self._family.values()))
        elif time.monotonic() - self._looked > _LOOK_SECONDS:
            self._look()
        return code

    def ask_to_end(self) -> None:
        self._look()
        self.process.terminate()

    def end(self) -> None:
        self.ask_to_end()
        deadline = time.monotonic() + TERMINATION_GRACE_SECONDS
        while self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        self._kill()

    def leave(self) -> bool:
        """`end` for a loop that must not wait, to be called until it returns True: then it is gone."""
        if self.returncode() is None and self._asked is None:
            self._asked = time.monotonic()
            self.ask_to_end()
        elif self._asked is not None and time.monotonic() - self._asked > TERMINATION_GRACE_SECONDS:
            self._kill()
        return self.returncode() is not None

    def _kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        _kill_all(list(self._family.values()))

    def _look(self) -> None:
        self._looked = time.monotonic()
        with contextlib.suppress(psutil.NoSuchProcess):
            for child in psutil.Process(self.process.pid).children(recursive=True):
                self._family[child.pid] = child


def _kill_all(processes: list[psutil.Process]) -> None:
    left = [process for process in processes if is_running(process)]
    for process in left:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(left, timeout=3)
