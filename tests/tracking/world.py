"""A small world for tests of tracking and registry: real journals, real MLflow on SQLite, a real server."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mlflow import MlflowClient

from grpo_ops.home import Home, quiet
from grpo_ops.journal import Journal, RunFolder
from grpo_ops.specs import RunSpec
from tests.processes import PATIENCE

PROMPTS = 40


def make_spec(**changes: Any) -> RunSpec:
    """A small RunSpec; dotted changes go by `grpo__learning_rate=1e-3`."""
    data: dict[str, Any] = {
        "name": "demo",
        "model": {"id": "starter:arith-s@0.3"},
        "task": {"source": "starter", "name": "arith"},
        "rewards": [{"name": "exact_match"}],
        "grpo": {"max_steps": 20, "learning_rate": 1e-4},
        "lora": {},
    }
    for path, value in changes.items():
        table, _, field = path.rpartition("__")
        (data[table] if table else data)[field] = value
    return RunSpec.checked(data, "test")


def write_steps(journal: Journal, steps: Sequence[int], reward: float = 0.3, **metrics: float) -> None:
    """Steps with TRL's metric names; the reward rises by 0.01 a step."""
    for step in steps:
        journal.step(
            step, {"reward": reward + step / 100, "reward_std": 0.2, "rewards/exact_match/mean": 0.3, **metrics}
        )


def write_evaluation(journal: Journal, step: int, right: int, *, prompts: int = PROMPTS, digest: str = "d1") -> None:
    """An evaluation with `right` of `prompts` solved."""
    outcomes = [1.0] * right + [0.0] * (prompts - right)
    ids = [f"p{number}" for number in range(prompts)]
    journal.append(
        "evaluation",
        step=step,
        mean=right / prompts,
        digest=digest,
        prompt_ids=ids,
        outcomes=outcomes,
        seconds=0.1,
        ask=None,
    )


def write_start(journal: Journal, resumed_from: int | None = None) -> None:
    journal.append("start", pid=os.getpid(), max_steps=20, resumed_from=resumed_from, versions={})


def history(uri: str, run_id: str | None, metric: str) -> list[tuple[int, float]]:
    """(step, value) of all points of a metric, as MLflow has them."""
    points = MlflowClient(uri).get_metric_history(str(run_id), metric)
    return sorted((point.step, point.value) for point in points)


def tags_of(uri: str, run_id: str | None) -> Mapping[str, str]:
    return MlflowClient(uri).get_run(str(run_id)).data.tags


def status_of_run(uri: str, run_id: str | None) -> str:
    return MlflowClient(uri).get_run(str(run_id)).info.status


def folder_of(home: Home, key: str) -> RunFolder:
    folder = RunFolder(home.runs / key)
    folder.path.mkdir(parents=True, exist_ok=True)
    return folder


class Server:
    """A real `mlflow server` on loopback that can be stopped and started again on the same port."""

    def __init__(self, root: Path, database: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        shutil.copy(database, root / "server.db")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.uri = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it is healthy."""
        arguments = ["--host", "127.0.0.1", "--port", str(self.port), "--workers", "1"]
        stores = [
            "--backend-store-uri",
            f"sqlite:///{self.root / 'server.db'}",
            "--artifacts-destination",
            str(self.root / "artifacts"),
        ]
        with (self.root / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "mlflow", "server", *arguments, *stores],
                env=quiet() | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"},
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + PATIENCE
        while not self._is_healthy():
            assert self._process.poll() is None, (self.root / "server.log").read_text()[-2000:]
            assert time.monotonic() < deadline, "the server did not become healthy"
            time.sleep(0.2)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(PATIENCE)
            self._process = None

    def _is_healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.uri}/health", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False
