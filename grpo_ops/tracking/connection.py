"""Speaking to MLflow: a client for a URI, and its errors told apart into outages and refusals."""

import fcntl
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from mlflow import MlflowClient
from mlflow.exceptions import MlflowException
from sqlalchemy.exc import SQLAlchemyError

from grpo_ops.errors import TrackingError

_SQLITE = "sqlite:///"
_TOO_MANY_REQUESTS = 429
_ready: set[str] = set()
#: In the loop a call may take 2 s and is not tried again (see grpo_ops.home); elsewhere a large file may take long.
PATIENCE = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "120", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "5"}


class Outage(Exception):
    """MLflow cannot be reached just now (no answer, 5xx, a locked database): try again later, lose nothing."""


def connect(tracking_uri: str) -> MlflowClient:
    """A client for `tracking_uri`. Raises Outage where the store cannot be reached.

    A SQLite store is made and migrated on first use (seconds), under a lock that works across processes.
    """
    _calm()
    with speaking(f"open {_shown(tracking_uri)}"):
        if tracking_uri.startswith(_SQLITE) and tracking_uri not in _ready:
            _first_use(tracking_uri, Path(tracking_uri.removeprefix(_SQLITE).partition("?")[0]))
        return MlflowClient(tracking_uri, registry_uri=tracking_uri)


@contextmanager
def speaking(what: str) -> Iterator[None]:
    """Turn MLflow's errors inside the block into Outage or, where it refused what was asked, TrackingError."""
    try:
        yield
    except ImportError as error:
        raise TrackingError(f"could not {what}: {error}; install the driver of this database") from error
    except (MlflowException, OSError, SQLAlchemyError) as error:
        if is_outage(error):
            raise Outage(f"could not {what}: {first_line(_root(error))}") from error
        raise TrackingError(f"MLflow refused to {what}: {first_line(error)}") from error


@contextmanager
def patient() -> Iterator[None]:
    """Let MLflow's calls in the block take their time, as in an upload: no training waits for them."""
    before = {name: os.environ.get(name) for name in PATIENCE}
    os.environ.update(PATIENCE)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def is_outage(error: Exception) -> bool:
    """Whether the same call may succeed later."""
    if isinstance(error, MlflowException):
        status = int(error.get_http_status_code())  # type: ignore[no-untyped-call]
        return status >= 500 or status == _TOO_MANY_REQUESTS
    return True


def first_line(error: BaseException) -> str:
    """The error's message, at most 300 characters of one line."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]


@dataclass
class Backoff:
    """When to try again: after 5 s, then twice as long each time, 60 s at most."""

    first: float = 5.0
    longest: float = 60.0
    _delay: float = 0.0
    _next: float = field(default=0.0)

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self._next

    def failed(self) -> None:
        self._delay = min(self.longest, 2 * self._delay or self.first)
        self._next = time.monotonic() + self._delay

    def succeeded(self) -> None:
        self._delay = self._next = 0.0


def _root(error: BaseException) -> BaseException:
    """What began it: `Connection refused`, where MLflow's own message is five exceptions in one line."""
    while (before := error.__cause__ or error.__context__) is not None and str(before).strip():
        error = before
    return error


def _first_use(tracking_uri: str, database: Path) -> None:
    """Two processes that migrate at once each find the other's half-made tables."""
    database.parent.mkdir(parents=True, exist_ok=True)
    with database.with_name(database.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        client = MlflowClient(tracking_uri, registry_uri=tracking_uri)
        client.search_experiments(max_results=1)
        client.search_registered_models(max_results=1)
    _ready.add(tracking_uri)


def _calm() -> None:
    """No INFO lines about migrations, no traceback for an outage that we report ourselves, no URLs and bars."""
    os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)


def _shown(uri: str) -> str:
    parts = urlsplit(uri)
    return uri.replace(f"{parts.password}@", "…@") if parts.password else uri
