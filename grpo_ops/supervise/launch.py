"""Starting one trainer as a child process, and ending it with all that it started."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import psutil

from grpo_ops.home import quiet
from grpo_ops.journal import RunFolder
from grpo_ops.processes import is_running

#: A trainer that is asked to end (SIGTERM) has so long to save a checkpoint before its process tree is killed.
TERMINATION_GRACE_SECONDS = 8.0
_LOOK_SECONDS = 1.0


class Trainer(Protocol):
    """A started trainer, wherever it runs."""

    def returncode(self) -> int | None:
        """Exit code, negative for a signal, None while it runs."""

    def ask_to_end(self) -> None:
        """Ask it to save and end (SIGTERM), without waiting for it."""

    def end(self) -> None:
        """End it within TERMINATION_GRACE_SECONDS, with everything that it started."""


class Launcher(Protocol):
    """How trainers are started: as processes here, or by a work pool elsewhere.

    environment: further variables of the trainer's, such as the devices that it may see.
    """

    def start(self, folder: RunFolder, environment: Mapping[str, str] | None = None) -> Trainer: ...


@dataclass(frozen=True)
class ProcessLauncher:
    """Starts `python -m grpo_ops.training RUN_FOLDER` as a child in this process group.

    threads: CPU threads a trainer (its OMP_NUM_THREADS), None for torch's own choice.
    command: what is started instead of the trainer, the folder is appended; for trainers written by others.
    """

    threads: int | None = None
    command: tuple[str, ...] = field(default_factory=lambda: (sys.executable, "-m", "grpo_ops.training"))

    def start(self, folder: RunFolder, environment: Mapping[str, str] | None = None) -> "ChildTrainer":
        threads = {} if self.threads is None else {"OMP_NUM_THREADS": str(self.threads)}
        with folder.log.open("ab") as log:
            process = subprocess.Popen(
                [*self.command, str(folder.path)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=quiet() | {"PYTHONUNBUFFERED": "1"} | threads | dict(environment or {}),
            )
        return ChildTrainer(process)


@dataclass
class ChildTrainer:
    """A trainer that is a child process of this one. Its descendants are noted, and none outlives it."""

    process: subprocess.Popen[bytes]
    _family: dict[int, psutil.Process] = field(default_factory=dict)
    _looked: float = 0.0

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
