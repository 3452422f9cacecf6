"""The best checkpoint of a run as an MLflow LoggedModel: weights, where they are from, how good they are."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlflow import MlflowClient
from mlflow.entities import LoggedModel, LoggedModelOutput, LoggedModelStatus

from grpo_ops.curve import Evaluation
from grpo_ops.journal import Entry, RunFolder, journal_evaluations
from grpo_ops.tracking.connection import speaking
from grpo_ops.tracking.datasets import dataset_name
from grpo_ops.tracking.metrics import milliseconds
from grpo_ops.tracking.names import RUN_KEY, STUDY, TAG
from grpo_ops.tracking.plan import RunPlan

SHA256 = TAG + "sha256"
CONTENT = TAG + "content"
STEP = TAG + "step"
EVAL_DIGEST = TAG + "eval.digest"
EVAL_PROMPTS = TAG + "eval.prompts"
EVAL_STDERR = TAG + "eval.stderr"
EVAL_BASELINE = TAG + "eval.baseline"
BASE = TAG + "base.id"
BASE_REVISION = TAG + "base.revision"


@dataclass(frozen=True, slots=True)
class BestCheckpoint:
    """The checkpoint with the best evaluation. path: its folder. time: when it was evaluated. baseline: the
    evaluation before training, None where it was of other prompts."""

    step: int
    path: Path
    sha256: str
    evaluation: Evaluation
    time: float
    baseline: Evaluation | None

    @property
    def is_adapter(self) -> bool:
        return (self.path / "adapter_config.json").is_file()


def best_checkpoint(folder: RunFolder, entries: Sequence[Entry]) -> BestCheckpoint | None:
    """The newest complete checkpoint of role `best` that is on the disk and was evaluated."""
    evaluations = {evaluation.step: evaluation for evaluation in journal_evaluations(list(entries))}
    times = {entry["step"]: entry["time"] for entry in reversed(entries) if entry["kind"] == "evaluation"}
    for entry in reversed(entries):
        if entry["kind"] != "checkpoint" or entry["role"] != "best" or entry["step"] not in evaluations:
            continue
        path, best = folder.path / entry["path"], evaluations[entry["step"]]
        if path.is_dir():
            first = evaluations.get(0)
            baseline = first if first and first.digest == best.digest else None
            return BestCheckpoint(entry["step"], path, entry["sha256"], best, times[entry["step"]], baseline)
    return None


def log_checkpoint(client: MlflowClient, run_id: str, plan: RunPlan, best: BestCheckpoint) -> str:
    """Make the checkpoint a LoggedModel of the run and return its id; one that is there already is kept.

    READY comes last: a model that is not READY is a part, and is made anew. Raises Outage or TrackingError.
    """
    with speaking(f"log checkpoint {best.path.name} of run {run_id}"):
        experiment = client.get_run(run_id).info.experiment_id
        for model in run_models(client, experiment, run_id):
            if model.tags.get(SHA256) == best.sha256 and model.tags.get(STEP) == str(best.step):
                if model.status == LoggedModelStatus.READY:
                    return model.model_id
                client.delete_logged_model(model.model_id)
        return _log_model(client, experiment, run_id, plan, best)


def run_models(client: MlflowClient, experiment: str, run_id: str) -> list[LoggedModel]:
    """All LoggedModels of a run."""
    models: dict[str, LoggedModel] = {}
    token: str | None = None
    while True:
        page = client.search_logged_models([experiment], f"source_run_id = '{run_id}'", page_token=token)
        models.update((model.model_id, model) for model in page)
        token = page.token
        if not token:
            return list(models.values())


def _log_model(client: MlflowClient, experiment: str, run_id: str, plan: RunPlan, best: BestCheckpoint) -> str:
    model = client.create_logged_model(
        experiment,
        name=model_name(plan.run_key, best.step),
        source_run_id=run_id,
        tags=_tags(plan, best),
        params={"base": str(plan.spec["model"]["id"]), "step": str(best.step)},
        model_type="adapter" if best.is_adapter else "full",
    )
    client.log_model_artifacts(model.model_id, str(best.path))
    _log_scores(client, run_id, model.model_id, plan, best)
    client.log_outputs(run_id, [LoggedModelOutput(model.model_id, best.step)])
    client.finalize_logged_model(model.model_id, "READY")
    return model.model_id


def model_name(run_key: str, step: int) -> str:
    """MLflow refuses `/ : . % " '` in a model's name."""
    return f"{run_key.translate(str.maketrans('/:.%', '____'))}-step-{step}"


def content_hash(folder: Path, leave_out: Collection[str] = ()) -> str:
    """One SHA-256 over the names and contents of all files in `folder`."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if name not in leave_out:
            with path.open("rb") as file:
                total.update(f"{name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()


def _log_scores(client: MlflowClient, run_id: str, model_id: str, plan: RunPlan, best: BestCheckpoint) -> None:
    """The run has this point already: same time and value, so MLflow adds the model's metric only."""
    client.log_metric(
        run_id,
        "eval_reward",
        best.evaluation.mean,
        timestamp=milliseconds(best.time),
        step=best.step,
        model_id=model_id,
        dataset_name=dataset_name(plan.spec["task"]),
        dataset_digest=best.evaluation.digest[:36],
    )


def _tags(plan: RunPlan, best: BestCheckpoint) -> dict[str, str]:
    model: Mapping[str, Any] = plan.spec["model"]
    baseline = "" if best.baseline is None else repr(best.baseline.mean)
    tags = {
        RUN_KEY: plan.run_key,
        STUDY: plan.study or "",
        STEP: str(best.step),
        SHA256: best.sha256,
        CONTENT: content_hash(best.path),
        EVAL_DIGEST: best.evaluation.digest,
        EVAL_PROMPTS: str(len(best.evaluation.scored)),
        EVAL_STDERR: repr(best.evaluation.standard_error),
        EVAL_BASELINE: baseline,
        BASE: str(model["id"]),
        BASE_REVISION: str(model.get("revision") or ""),
    }
    return {name: value for name, value in tags.items() if value}
