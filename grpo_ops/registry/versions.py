"""Versions in the registry: made only of complete files, found again by run and checkpoint, checked before use."""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import mlflow
from mlflow import MlflowClient
from mlflow.entities.model_registry import ModelVersion
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import RESOURCE_ALREADY_EXISTS, ErrorCode

from grpo_ops.errors import RegistryError
from grpo_ops.registry.card import card
from grpo_ops.registry.types import Candidate, Champion
from grpo_ops.specs import PromotionSpec
from grpo_ops.tracking.models import (
    BASE,
    BASE_REVISION,
    CONTENT,
    EVAL_BASELINE,
    EVAL_DIGEST,
    EVAL_PROMPTS,
    EVAL_STDERR,
    SHA256,
    STEP,
    content_hash,
)
from grpo_ops.tracking.names import ENDING, RUN_KEY, STUDY, TAG

EVAL_MEAN = TAG + "eval.mean"
BASE_HASH = TAG + "base.hash"
PREVIOUS = TAG + "previous_version"
LAW_FILE = "law.json"
_LINKS = "mlflow.modelVersions"
_LAW_TAGS = {"form": "law", "status": "status", "params": "params", "cov": "covariance", "r2": "r2", "noise": "noise"}


def find_version(client: MlflowClient, model: str, candidate: Candidate) -> ModelVersion | None:
    """The version that was made of this checkpoint before, None where there is none."""
    token: str | None = None
    while True:
        page = client.search_model_versions(f"name = '{model}'", max_results=1000, page_token=token)
        for version in page:
            tags: Mapping[str, str] = version.tags
            if tags.get(RUN_KEY) == candidate.run_key and tags.get(SHA256) == candidate.sha256:
                return version
        token = page.token
        if not token:
            return None


def register(client: MlflowClient, spec: PromotionSpec, candidate: Candidate, champion: Champion | None) -> str:
    """Make the version and return its number: files first, then the version with all its tags in one call.

    Whatever goes wrong leaves nothing of ours in the registry. Raises RegistryError, MlflowException or OSError.
    """
    _add_law(client, candidate)
    check_files(client, candidate.model_id, candidate.content)
    is_new_model = _ensure_model(client, spec.model)
    number: str | None = None
    try:
        number = _create(client, spec, candidate, champion)
        _check_version(client, spec.model, number, version_tags(candidate, champion))
        _link(client, candidate.model_id, spec.model, number)
    except BaseException:
        _undo(client, spec.model, number, is_new_model)
        raise
    return number


def complete(client: MlflowClient, found: ModelVersion, candidate: Candidate, champion: Champion | None) -> str:
    """Make a version that an earlier promotion left without the alias fit to get it."""
    check_files(client, candidate.model_id, candidate.content)
    for name, value in version_tags(candidate, champion).items():
        if found.tags.get(name) != value:
            client.set_model_version_tag(found.name, found.version, name, value)
    return str(found.version)


def version_tags(candidate: Candidate, champion: Champion | None) -> dict[str, str]:
    """Everything about a version that is searched for."""
    law, score = candidate.law, candidate.score
    tags = {
        RUN_KEY: candidate.run_key,
        STUDY: candidate.study,
        STEP: str(candidate.step),
        SHA256: candidate.sha256,
        CONTENT: candidate.content,
        ENDING: candidate.ending,
        PREVIOUS: champion.version if champion else None,
        EVAL_MEAN: repr(score.mean),
        EVAL_STDERR: repr(score.standard_error),
        EVAL_PROMPTS: str(score.prompts),
        EVAL_DIGEST: score.digest,
        EVAL_BASELINE: None if candidate.baseline is None else repr(candidate.baseline),
        BASE: candidate.base.id,
        BASE_REVISION: candidate.base.revision,
        BASE_HASH: candidate.base.hash,
        TAG + "law.forecast": json.dumps(candidate.forecast) if candidate.forecast else None,
        TAG + "law.outcome": None if candidate.outcome is None else repr(candidate.outcome),
    }
    tags |= {f"{TAG}law.{tag}": _text(law[name]) for tag, name in _LAW_TAGS.items() if law.get(name) is not None}
    return {name: value for name, value in tags.items() if value is not None}


def check_files(client: MlflowClient, model_id: str, content: str) -> None:
    """Read a model's files back and compare them with what was uploaded. Raises RegistryError where they differ."""
    with tempfile.TemporaryDirectory() as scratch:
        check_content(download(client, model_id, Path(scratch)), model_id, content)


def check_content(folder: Path, model_id: str, content: str) -> None:
    if content_hash(folder, (LAW_FILE,)) != content:
        raise RegistryError(f"the stored files of model {model_id} are not those that were uploaded")


def download(client: MlflowClient, model_id: str, destination: Path) -> Path:
    """A model's files, in a folder at or below `destination`."""
    location = client.get_logged_model(model_id).artifact_location
    found = mlflow.artifacts.download_artifacts(
        artifact_uri=location, dst_path=str(destination), tracking_uri=client.tracking_uri
    )
    return Path(found)


@contextmanager
def default_uri(tracking_uri: str) -> Iterator[None]:
    """MLflow's SQL registry looks a model up at the process's default URI, not at its client's: set it meanwhile."""
    before = mlflow.get_tracking_uri() if mlflow.is_tracking_uri_set() else None  # type: ignore[no-untyped-call]
    variable = os.environ.get("MLFLOW_TRACKING_URI")
    mlflow.set_tracking_uri(tracking_uri)
    try:
        yield
    finally:
        mlflow.set_tracking_uri(before)  # type: ignore[arg-type]
        os.environ.pop("MLFLOW_TRACKING_URI", None)
        os.environ.update({} if variable is None else {"MLFLOW_TRACKING_URI": variable})


def _create(client: MlflowClient, spec: PromotionSpec, candidate: Candidate, champion: Champion | None) -> str:
    with default_uri(client.tracking_uri):
        version = client.create_model_version(
            spec.model,
            f"models:/{candidate.model_id}",
            run_id=candidate.run_id,
            model_id=candidate.model_id,
            tags=version_tags(candidate, champion),
            description=card(spec, candidate, champion),
        )
    return str(version.version)


def _undo(client: MlflowClient, model: str, number: str | None, is_new_model: bool) -> None:
    if number is not None:
        client.delete_model_version(model, number)
    if is_new_model and not client.search_model_versions(f"name = '{model}'", max_results=1):
        client.delete_registered_model(model)


def _ensure_model(client: MlflowClient, name: str) -> bool:
    """Whether the registered model had to be made."""
    try:
        client.create_registered_model(name)
    except MlflowException as error:
        if error.error_code != ErrorCode.Name(RESOURCE_ALREADY_EXISTS):
            raise
        return False
    return True


def _add_law(client: MlflowClient, candidate: Candidate) -> None:
    document = {**candidate.law, "forecast": dict(candidate.forecast), "outcome": candidate.outcome}
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / LAW_FILE
        path.write_text(json.dumps(document, indent=1), encoding="utf-8")
        client.log_model_artifact(candidate.model_id, str(path))


def _check_version(client: MlflowClient, model: str, number: str, tags: Mapping[str, str]) -> None:
    stored = client.get_model_version(model, number)
    if stored.status != "READY" or dict(stored.tags) != dict(tags):
        raise RegistryError(f"version {number} of {model} was not stored completely")


def _link(client: MlflowClient, model_id: str, model: str, number: str) -> None:
    """Let MLflow's page of the checkpoint show the version; a server does that by itself."""
    tags: Mapping[str, str] = client.get_logged_model(model_id).tags
    links = json.loads(tags.get(_LINKS, "[]"))
    if not any(link["name"] == model and str(link["version"]) == number for link in links):
        links.append({"name": model, "version": int(number)})
        client.set_logged_model_tags(model_id, {_LINKS: json.dumps(links)})


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
