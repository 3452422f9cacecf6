"""What a run is in MLflow: known before a server is asked, kept in the run folder, so that it can be made later."""

import getpass
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Self, TypeVar

from mlflow.utils.git_utils import get_git_commit

from grpo_ops.errors import JournalError
from grpo_ops.home import Home
from grpo_ops.journal import RunFolder, write_atomically
from grpo_ops.specs import RunSpec
from grpo_ops.tracking.names import REWARD_DIGEST

#: In the run folder: the RunPlan, and the closing that MLflow has not heard of yet.
PLAN_FILE = "tracking.json"
PENDING_FILE = "tracking.pending"
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Where and as what one GRPO run is tracked.

    spec: the RunSpec as JSON. study: the study it is a trial of. artifacts: where a new experiment keeps its files,
    None leaves that to the server. tags: further tags.
    """

    tracking_uri: str
    experiment: str
    run_key: str
    name: str
    spec: Mapping[str, Any]
    study: str | None = None
    artifacts: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    def save(self, folder: RunFolder) -> None:
        folder.path.mkdir(parents=True, exist_ok=True)
        write_atomically(folder.path / PLAN_FILE, json.dumps(asdict(self), indent=1))

    @classmethod
    def load(cls, folder: RunFolder) -> Self | None:
        """The plan kept in `folder`, None where the run has never been tracked."""
        return read_record(cls, folder, PLAN_FILE)

    @property
    def max_steps(self) -> int | None:
        steps = self.spec.get("grpo", {}).get("max_steps")
        return int(steps) if steps else None

    def with_tags(self, tags: Mapping[str, str]) -> Self:
        return replace(self, tags={**self.tags, **tags})


def read_record(kind: type[Record], folder: RunFolder, name: str) -> Record | None:
    """The dataclass that a JSON file in `folder` holds, None where there is no file. Raises JournalError if broken."""
    data = folder.read_json(folder.path / name)
    try:
        return None if data is None else kind(**data)
    except TypeError as error:
        raise JournalError(f"{folder.path / name} is not of this version of grpo-ops ({error}); delete it") from error


def plan_run(home: Home, spec: RunSpec, run_key: str, name: str | None = None, study: str | None = None) -> RunPlan:
    """The plan of the run with this key in the user's home."""
    return RunPlan(
        tracking_uri=home.tracking_uri,
        experiment=spec.experiment,
        run_key=run_key,
        name=name or run_key,
        spec=spec.model_dump(mode="json"),
        study=study,
        artifacts=artifact_location(home),
        tags=source_tags() | {REWARD_DIGEST: spec.reward_digest},
    )


def artifact_location(home: Home) -> str | None:
    """Where an experiment of ours keeps its files: in the home, unless a server decides.

    MLflow's own choice for a database is `./mlruns` of whoever happens to create the experiment.
    """
    is_server = home.tracking_uri.startswith(("http://", "https://", "databricks"))
    return None if is_server else str(home.artifacts)


@cache
def source_tags() -> dict[str, str]:
    """Who started this, with what, and from which commit."""
    commit = get_git_commit(str(Path.cwd()))
    tags = {"mlflow.user": _user(), "mlflow.source.name": "grpo-ops", "mlflow.source.type": "LOCAL"}
    return tags | ({"mlflow.source.git.commit": commit} if commit else {})


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container's user id without a name
        return "unknown"
