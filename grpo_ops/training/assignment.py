"""What the supervisor wrote for the trainer: RUN/spec.json."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grpo_ops.errors import TrainingError
from grpo_ops.journal import RunFolder
from grpo_ops.specs import RunSpec


@dataclass(frozen=True, slots=True)
class Process:
    """A process that is told apart from a later one with its number by when it started (seconds since the epoch)."""

    pid: int
    started: float | None


@dataclass(frozen=True, slots=True)
class Assignment:
    """One attempt at one run."""

    run_key: str
    attempt: int
    spec: RunSpec
    supervisor: Process | None
    allow_import_paths: bool = False


def read_assignment(folder: RunFolder) -> Assignment:
    """Raises TrainingError where RUN/spec.json is missing or incomplete, SpecError where the spec in it is wrong."""
    document = folder.read_json(folder.spec)
    if not isinstance(document, dict):
        raise TrainingError(f"{folder.spec} is missing: the supervisor writes it before it starts a trainer")
    try:
        key, attempt, spec = document["run_key"], int(document["attempt"]), document["spec"]
    except KeyError as error:
        raise TrainingError(f"{folder.spec} has no {error.args[0]!r}") from None
    checked = RunSpec.checked(spec, str(folder.spec))
    return Assignment(
        key, attempt, checked, _supervisor(document.get("supervisor")), bool(document.get("allow_import_paths", False))
    )


def prepare_environment(spec: RunSpec) -> None:
    """Settings that libraries read when they are imported: no telemetry, no tracking, no hub where none is named."""
    from grpo_ops.home import make_quiet

    make_quiet()
    # TRL imports MLflow (1 s, and a room that the trainer must not know) unless it is told not to.
    os.environ["DISABLE_MLFLOW_INTEGRATION"] = "TRUE"
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    if is_local(spec.model.id) and "hub" not in spec.task.sources:
        os.environ["HF_HUB_OFFLINE"] = "1"


def is_local(model_id: str) -> bool:
    """Whether a model is on this machine: a starter model, or a folder."""
    return model_id.startswith("starter:") or Path(model_id).expanduser().is_dir()


def _supervisor(value: Any) -> Process | None:
    return Process(int(value["pid"]), value.get("started")) if isinstance(value, dict) and value.get("pid") else None
