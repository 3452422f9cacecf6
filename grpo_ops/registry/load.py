"""A promoted model, from the registry to a folder."""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mlflow.exceptions import MlflowException

from grpo_ops.errors import RegistryError
from grpo_ops.home import Home
from grpo_ops.registry.types import Base
from grpo_ops.registry.versions import BASE_HASH, check_content, download
from grpo_ops.tracking import Outage, connect
from grpo_ops.tracking.connection import first_line, patient
from grpo_ops.tracking.models import BASE, BASE_REVISION, CONTENT


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """The files of a version in a folder, checked, and the base that an adapter needs."""

    path: Path
    model: str
    version: str
    base: Base
    run_id: str


def load_champion(model: str, alias: str = "champion", *, home: Home, destination: Path | None = None) -> LoadedModel:
    """Download the version that holds `alias` into `destination` (by default a folder in the cache, made once).

    Raises RegistryError where there is no such version, or its files are not those that were promoted.
    """
    try:
        with patient():
            version = connect(home.tracking_uri).get_model_version_by_alias(model, alias)
            model_id = str(version.source).removeprefix("models:/")
            folder = destination or home.cache / "models" / f"{model}-v{version.version}-{model_id}"
            if not folder.is_dir():
                _fetch(home, model_id, version.tags[CONTENT], folder)
    except (Outage, OSError, MlflowException) as error:
        raise RegistryError(f"cannot load {model}@{alias}: {first_line(error)}") from error
    base = Base(version.tags[BASE], version.tags.get(BASE_REVISION), hash=version.tags.get(BASE_HASH))
    return LoadedModel(folder, model, str(version.version), base, str(version.run_id))


def _fetch(home: Home, model_id: str, content: str, folder: Path) -> None:
    """The folder appears when it is complete and checked, not before."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        found = download(connect(home.tracking_uri), model_id, Path(scratch))
        check_content(found, model_id, content)
        shutil.move(found, folder)
