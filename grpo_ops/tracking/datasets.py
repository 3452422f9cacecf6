"""The prompts of a run as MLflow dataset inputs."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from mlflow.entities import Dataset, DatasetInput, InputTag

from grpo_ops.tracking.names import cut

_DIGEST_LENGTH = 36  # MLflow refuses longer ones
_SOURCE_TYPES = {"hub": "hf", "jsonl": "local", "parquet": "local"}


def training_input(spec: Mapping[str, Any]) -> DatasetInput:
    """The training prompts of a RunSpec (as JSON): identified by everything that decides which prompts they are."""
    task = spec["task"]
    digest = hashlib.sha256(json.dumps(task, sort_keys=True).encode()).hexdigest()[:16]
    return _input(task, digest, "training", {"num_rows": task["train_size"]})


def evaluation_input(spec: Mapping[str, Any], digest: str, prompts: int) -> DatasetInput:
    """The held-out prompts, under the digest that the trainer gave them."""
    return _input(spec["task"], digest[:_DIGEST_LENGTH], "evaluation", {"num_rows": prompts})


def dataset_name(task: Mapping[str, Any]) -> str:
    """`reasoning_gym/gcd`, `jsonl/prompts.jsonl`."""
    what = task.get("name") or str(task.get("path") or "prompts").rsplit("/", 1)[-1]
    return cut(f"{task['source']}/{what}", 250)


def _input(task: Mapping[str, Any], digest: str, context: str, profile: Mapping[str, int]) -> DatasetInput:
    source = {"uri": task["path"]} if task.get("path") else {"path": task.get("name"), "config": task.get("config")}
    dataset = Dataset(
        name=dataset_name(task),
        digest=digest,
        source_type=_SOURCE_TYPES.get(task["source"], "code"),
        source=cut(json.dumps(source), 60_000),
        profile=json.dumps(profile),
    )
    return DatasetInput(dataset, [InputTag("mlflow.data.context", context)])
