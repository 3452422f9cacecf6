"""The calls that carry a run's journal to MLflow."""

from collections.abc import Mapping
from typing import Any

from mlflow import MlflowClient
from mlflow.entities import RunTag

from grpo_ops.tracking.connection import speaking
from grpo_ops.tracking.datasets import evaluation_input
from grpo_ops.tracking.metrics import Batch
from grpo_ops.tracking.names import TAG_LENGTH, cut

_MOST_METRICS = 1000
#: Which metric shows how far MLflow has come with which kind of line.
_WITNESSES = {"step": "reward", "evaluation": "eval_reward", "law": "law/forecast"}


def progress(client: MlflowClient, run_id: str) -> dict[str, int]:
    """The highest step that MLflow has, by kind of line."""
    steps = {}
    for kind, metric in _WITNESSES.items():
        with speaking(f"read {metric} of run {run_id}"):
            steps[kind] = max((point.step for point in client.get_metric_history(run_id, metric)), default=-1)
    return steps


def send(client: MlflowClient, run_id: str, spec: Mapping[str, Any], batch: Batch) -> None:
    """Log a batch; one that arrives twice (its answer was lost) changes nothing, as time and value are the same."""
    tags = [RunTag(name, cut(value, TAG_LENGTH)) for name, value in batch.tags.items()]
    with speaking(f"log metrics of run {run_id}"):
        for start in range(0, len(batch.metrics), _MOST_METRICS):
            client.log_batch(run_id, metrics=batch.metrics[start : start + _MOST_METRICS])
        if tags:
            client.log_batch(run_id, tags=tags)
        if batch.inputs:
            client.log_inputs(run_id, [evaluation_input(spec, digest, size) for digest, size in batch.inputs.items()])


def send_tags(client: MlflowClient, run_id: str, tags: Mapping[str, str]) -> None:
    with speaking(f"tag run {run_id}"):
        client.log_batch(run_id, tags=[RunTag(name, cut(value, TAG_LENGTH)) for name, value in tags.items()])
