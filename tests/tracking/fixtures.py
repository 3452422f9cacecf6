"""Fixtures shared by tests of tracking and registry."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from grpo_ops.home import Home
from grpo_ops.tracking import connect
from tests.tracking.world import Server


@pytest.fixture(scope="session")
def migrated_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite store that MLflow has migrated, which takes seconds: to be copied."""
    path = tmp_path_factory.mktemp("template") / "mlflow.db"
    connect(f"sqlite:///{path}")
    return path


@pytest.fixture
def home(tmp_path: Path, migrated_database: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with an empty MLflow store."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    root = tmp_path / "home"
    root.mkdir()
    shutil.copy(migrated_database, root / "mlflow.db")
    return Home(root)


@pytest.fixture
def server(tmp_path: Path, migrated_database: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that is not started yet; MLFLOW_TRACKING_URI names it."""
    server = Server(tmp_path / "server", migrated_database)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", server.uri)
    yield server
    server.stop()
