"""The evaluated checkpoints of a study, best first, over all of its runs: finished, stopped and pruned alike."""

import fnmatch
import json
import math
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import mlflow
from mlflow import MlflowClient
from mlflow.entities import LoggedModel, LoggedModelStatus, Run

from grpo_ops.curve import RewardCurve
from grpo_ops.errors import RegistryError
from grpo_ops.registry.base import base_of
from grpo_ops.registry.types import Candidate, Score
from grpo_ops.tracking import curve_of_run
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
)
from grpo_ops.tracking.names import ENDING, KIND, NONFINITE, RUN_KEY, STOP_REASON, STUDY, quoted
from grpo_ops.tracking.runs import search_all

_FORECASTS = {"mean": "law/forecast", "low": "law/forecast_low", "high": "law/forecast_high"}


def find_study_name(client: MlflowClient, experiment: str, pattern: str) -> str:
    """The study of this name, or with `NAME*` the newest one that fits. Raises RegistryError where there is none."""
    parents = list(search_all(client, [experiment], f"tags.`{KIND}` = 'study'"))
    newest_first = sorted(parents, key=lambda run: run.info.start_time, reverse=True)
    names = [str(run.data.tags[STUDY]) for run in newest_first]
    for name in names:
        if name == pattern or fnmatch.fnmatchcase(name, pattern):
            return name
    raise RegistryError(f"there is no study {pattern!r}; known: {', '.join(names[:10]) or 'none'}")


def best_models(client: MlflowClient, experiment: str, study: str) -> list[LoggedModel]:
    """Complete, evaluated checkpoints of the study, the best first, over all pages (of equals, the newest first)."""
    models: dict[str, LoggedModel] = {}
    for model in _pages(client, experiment, f"tags.`{STUDY}` = {quoted(study)}"):
        if model.status == LoggedModelStatus.READY and math.isfinite(evaluation_of(model)):
            models[model.model_id] = model
    return sorted(models.values(), key=lambda model: (evaluation_of(model), model.creation_timestamp), reverse=True)


def evaluation_of(model: LoggedModel) -> float:
    """The model's held-out evaluation, NaN where it has none."""
    return next((float(metric.value) for metric in model.metrics or () if metric.key == "eval_reward"), math.nan)


def candidate_of(client: MlflowClient, model: LoggedModel, tracking_uri: str) -> Candidate:
    """All that MLflow knows about a checkpoint."""
    run = client.get_run(str(model.source_run_id))
    tags: Mapping[str, str] = model.tags
    files = {str(file.path): int(file.file_size or 0) for file in _files(client, model.model_id)}
    baseline = tags.get(EVAL_BASELINE)
    config = read_model_file(model, "adapter_config.json", tracking_uri) if "adapter_config.json" in files else None
    curve = curve_of_run(run.info.run_id, tracking_uri).curve if "reward" in run.data.metrics else RewardCurve()
    return Candidate(
        model_id=model.model_id,
        run_id=run.info.run_id,
        run_key=tags[RUN_KEY],
        study=tags[STUDY],
        step=int(tags[STEP]),
        sha256=tags[SHA256],
        content=tags[CONTENT],
        score=score_of(evaluation_of(model), tags),
        baseline=None if baseline is None else float(baseline),
        ending=run.data.tags.get(ENDING),
        reason=run.data.tags.get(STOP_REASON, ""),
        nonfinite=run.data.tags.get(NONFINITE, ""),
        base=base_of(config, tags[BASE], tags.get(BASE_REVISION)),
        is_adapter=config is not None,
        files=files,
        params=run.data.params,
        law=_law(client, run),
        forecast={name: run.data.metrics[key] for name, key in _FORECASTS.items() if key in run.data.metrics},
        outcome=_outcome(curve),
    )


def score_of(mean: float, tags: Mapping[str, str]) -> Score:
    """The Score that a model's or a version's tags describe."""
    return Score(mean, float(tags.get(EVAL_STDERR, "nan")), int(tags.get(EVAL_PROMPTS, "0")), tags.get(EVAL_DIGEST, ""))


def read_model_file(model: LoggedModel, name: str, tracking_uri: str) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        uri = f"{model.artifact_location}/{name}"
        found = mlflow.artifacts.download_artifacts(artifact_uri=uri, dst_path=scratch, tracking_uri=tracking_uri)
        return Path(found).read_text(encoding="utf-8")


def _pages(client: MlflowClient, experiment: str, query: str) -> Iterator[LoggedModel]:
    token: str | None = None
    while True:
        page = client.search_logged_models([experiment], query, max_results=100, page_token=token)
        yield from page
        token = page.token
        if not token:
            return


def _files(client: MlflowClient, model_id: str, folder: str | None = None) -> Iterator[Any]:
    for file in client.list_logged_model_artifacts(model_id, folder):
        if file.is_dir:
            yield from _files(client, model_id, file.path)
        else:
            yield file


def _law(client: MlflowClient, run: Run) -> dict[str, Any]:
    if not any(file.path == "law.json" for file in client.list_artifacts(run.info.run_id)):
        return {}
    with tempfile.TemporaryDirectory() as scratch:
        path = client.download_artifacts(run.info.run_id, "law.json", scratch)
        law: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    return law


def _outcome(curve: RewardCurve) -> float | None:
    """Mean reward over the last tenth of the planned steps, or of what there is: what a forecast is about."""
    count = max(1, curve.planned_points // 10)
    last = curve.rewards[-count:]
    return math.fsum(last) / len(last) if last else None
