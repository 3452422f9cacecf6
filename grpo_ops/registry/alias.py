"""Who is champion, and making another version it."""

from collections.abc import Mapping

from mlflow import MlflowClient
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import INVALID_PARAMETER_VALUE, RESOURCE_DOES_NOT_EXIST, ErrorCode

from grpo_ops.errors import RegistryError
from grpo_ops.registry.candidates import score_of
from grpo_ops.registry.types import Champion
from grpo_ops.registry.versions import EVAL_MEAN
from grpo_ops.specs import PromotionSpec
from grpo_ops.tracking.models import SHA256
from grpo_ops.tracking.names import RUN_KEY

#: What MLflow answers where there is no such model, and where the model has no such alias.
_MISSING = (ErrorCode.Name(RESOURCE_DOES_NOT_EXIST), ErrorCode.Name(INVALID_PARAMETER_VALUE))


def read_champion(client: MlflowClient, model: str, alias: str) -> Champion | None:
    """The version that holds the alias, None where there is none."""
    try:
        version = client.get_model_version_by_alias(model, alias)
    except MlflowException as error:
        if error.error_code in _MISSING:
            return None
        raise
    tags: Mapping[str, str] = version.tags
    score = score_of(float(tags[EVAL_MEAN]), tags) if EVAL_MEAN in tags else None
    return Champion(str(version.version), tags.get(RUN_KEY, ""), tags.get(SHA256, ""), score)


def move_alias(client: MlflowClient, spec: PromotionSpec, version: str, before: Champion | None) -> None:
    """Point the alias at `version`. Raises RegistryError if somebody else has moved it since `before` was read."""
    now = read_champion(client, spec.model, spec.alias)
    if (now and now.version) != (before and before.version):
        raise RegistryError(
            f"alias {spec.alias} of {spec.model} was moved to version {now.version if now else 'none'} meanwhile; "
            "run the promotion again"
        )
    client.set_registered_model_alias(spec.model, spec.alias, version)
