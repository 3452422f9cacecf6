"""Starting one trainer as a child process, with the server beside it where its rollouts need one."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from grpo_ops.home import quiet
from grpo_ops.journal import RunFolder
from grpo_ops.specs import RunSpec
from grpo_ops.supervise.child import ChildTrainer
from grpo_ops.supervise.engine import PATIENCE, SERVE, Patience
from grpo_ops.supervise.served import ServedTrainer, start_served


class Trainer(Protocol):
    """A started trainer, wherever it runs.

    failure: what ended the run, where it was not the trainer. is_starting: nothing can be written yet.
    """

    @property
    def failure(self) -> str | None: ...

    @property
    def is_starting(self) -> bool: ...

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
    server: what is started for rollouts.engine = "vllm-server", the folder and a port are appended; patience: with it.
    """

    threads: int | None = None
    command: tuple[str, ...] = field(default_factory=lambda: (sys.executable, "-m", "grpo_ops.training"))
    server: tuple[str, ...] = SERVE
    patience: Patience = PATIENCE

    def start(self, folder: RunFolder, environment: Mapping[str, str] | None = None) -> ChildTrainer | ServedTrainer:
        spec = _served_spec(folder)
        if spec is None:
            return self._start_trainer(folder, environment)
        return start_served(
            folder,
            spec,
            environment or {},
            self.server,
            self.patience,
            lambda changed: self._start_trainer(folder, changed),
        )

    def _start_trainer(self, folder: RunFolder, environment: Mapping[str, str] | None) -> ChildTrainer:
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


def _served_spec(folder: RunFolder) -> RunSpec | None:
    """The run's spec where a server is to be started beside its trainer."""
    document = folder.read_json(folder.spec) or {}
    if "rollouts" not in document.get("spec", {}):
        return None
    spec = RunSpec.checked(document["spec"], str(folder.spec))
    return spec if spec.rollouts.is_served else None
