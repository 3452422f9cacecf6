"""Run folders and real trainers for them: the smallest starter model, a few steps, 16 completions each."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from grpo_ops.journal import Entry, RunFolder, read_journal
from grpo_ops.specs import RunSpec, with_settings
from tests.processes import PATIENCE

SPEC: dict[str, Any] = {
    "name": "tiny",
    "seed": 3,
    "model": {"id": "starter:arith-xs@0.3"},
    "task": {"source": "starter", "name": "arith", "train_size": 256},
    "rewards": [{"name": "reasoning_gym"}],
    "grpo": {
        "max_steps": 40,
        "learning_rate": 3e-3,
        "per_device_train_batch_size": 16,
        "num_generations": 4,
        "max_completion_length": 5,
        "gradient_checkpointing": False,
    },
    "lora": {"r": 4, "lora_alpha": 8, "target_modules": "all-linear"},
    "evaluation": {"every": 10, "prompts": 32, "temperature": 1.0},
    "checkpoints": {"every": 5},
}


@dataclass
class Runs:
    """Makes run folders, starts trainers on them, and ends those that a test left running."""

    root: Path
    environment: dict[str, str]
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def make(self, name: str, *settings: str, attempt: int = 0, supervisor: int | None = None, **top: Any) -> RunFolder:
        """A run folder with SPEC and `settings` ("dotted.key=value"); called again, the next attempt's."""
        folder = RunFolder(self.root / name)
        folder.path.mkdir(exist_ok=True)
        spec = RunSpec.checked(with_settings(json.loads(json.dumps(SPEC)), settings), "test")
        watched = {"pid": supervisor or os.getpid(), "started": None}
        document = {"run_key": name, "attempt": attempt, "supervisor": watched, "spec": spec.model_dump(mode="json")}
        folder.spec.write_text(json.dumps({**document, **top}))
        return folder

    def start(self, folder: RunFolder) -> subprocess.Popen[bytes]:
        with folder.log.open("ab") as log:
            command = [sys.executable, "-m", "grpo_ops.training", str(folder.path)]
            process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.root, env=self.environment)
        self.started.append(process)
        return process

    def finish(self, folder: RunFolder, code: int = 0) -> dict[str, Any]:
        """Start a trainer, wait for its end, and return its result."""
        found = self.start(folder).wait(timeout=PATIENCE)
        assert found == code, folder.log.read_text()[-3000:]
        return read_result(folder)

    def end_all(self) -> None:
        for process in self.started:
            process.kill()
            process.wait()


def read_result(folder: RunFolder) -> dict[str, Any]:
    return json.loads(folder.result.read_text())


def lines(folder: RunFolder, kind: str) -> list[Entry]:
    entries = read_journal(folder.journal) if folder.journal.exists() else []
    return [entry for entry in entries if entry["kind"] == kind]


@dataclass(frozen=True)
class Look:
    """What the tests of this folder read with."""

    result = staticmethod(read_result)
    lines = staticmethod(lines)

    @staticmethod
    def until(folder: RunFolder, kind: str, step: int, process: subprocess.Popen[bytes]) -> None:
        """Wait for a line of `kind` at `step` or later."""
        while not any(entry["step"] >= step for entry in lines(folder, kind)):
            assert process.poll() is None, folder.log.read_text()[-3000:]
            time.sleep(0.01)

    @staticmethod
    def kill(process: subprocess.Popen[bytes]) -> None:
        process.send_signal(signal.SIGKILL)
        process.wait()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, starter_cache: Path) -> Any:
    made = Runs(tmp_path_factory.mktemp("runs"), {**os.environ, "GRPO_OPS_CACHE": str(starter_cache)})
    yield made
    made.end_all()


@pytest.fixture(scope="session")
def look() -> Look:
    return Look()
