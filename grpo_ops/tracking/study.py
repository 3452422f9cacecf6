"""A study in MLflow: the parent run of its trials, found by its name, continued when the sweep is."""

import json
import logging
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlflow import MlflowClient
from mlflow.entities import Run

from grpo_ops.errors import TrackingError
from grpo_ops.home import Home
from grpo_ops.processes import identity, is_alive
from grpo_ops.specs.reward import RewardSpec, reward_digest
from grpo_ops.tracking.connection import Outage, connect, first_line, speaking
from grpo_ops.tracking.names import (
    ENDING,
    KIND,
    NOTE,
    REWARD_DIGEST,
    RUN_KEY,
    STUDY,
    SUPERVISOR,
    TAG_LENGTH,
    UPLOAD,
    clean_name,
    cut,
    plain,
    quoted,
    status_of,
)
from grpo_ops.tracking.params import flat_params
from grpo_ops.tracking.plan import artifact_location, source_tags
from grpo_ops.tracking.runs import attach_study, experiment_id, find_study, is_quick, search_all
from grpo_ops.tracking.sending import send_tags

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Study:
    """A study's parent run. run_id: None where MLflow could not be reached; its trials make the parent when it can."""

    tracking_uri: str
    experiment: str
    name: str
    run_id: str | None


@dataclass(frozen=True, slots=True)
class StudyRun:
    """One trial's run as MLflow has it."""

    run_id: str
    run_key: str
    status: str
    ending: str | None
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    tags: Mapping[str, str]


def open_study(home: Home, experiment: str, name: str, *, spec: Mapping[str, Any] | None = None) -> Study:
    """The parent run of the study: made, or continued (status RUNNING) where there is one.

    spec: the SweepSpec as JSON: its settings become params, the whole of it `sweep.json`. Raises TrackingError where
    MLflow refuses; an outage is no error (`run_id` is None).
    """
    try:
        return Study(home.tracking_uri, experiment, name, _open(home, experiment, name, spec))
    except Outage as outage:
        _log.warning("study %s goes on without MLflow: %s", name, outage)
        return Study(home.tracking_uri, experiment, name, None)


def close_study(
    study: Study,
    ending: str,
    leaderboard: Sequence[Mapping[str, Any]] = (),
    *,
    note: str = "",
    metrics: Mapping[str, float] | None = None,
    figures: Sequence[Path] = (),
) -> str | None:
    """Close the parent run: status, description (markdown), metrics, `leaderboard.json` (a table in the UI), pictures.

    Returns None, or what failed as a sentence: a study is over also where MLflow does not hear of it.
    """
    status = status_of(ending)
    try:
        client = connect(study.tracking_uri)
        run_id = study.run_id or _find(client, study)
        send_tags(client, run_id, {ENDING: plain(ending), NOTE: note})
        with speaking(f"close study {study.name}"):
            for name, value in (metrics or {}).items():
                client.log_metric(run_id, clean_name(name), value)
            failure = _log_files(client, run_id, leaderboard, figures)
            client.set_terminated(run_id, status)
    except (Outage, TrackingError) as error:
        return str(error)
    return failure


def study_runs(home: Home, experiment: str, name: str) -> list[StudyRun]:
    """All trials of a study, oldest first. Raises TrackingError where MLflow or the study cannot be found."""
    try:
        client = connect(home.tracking_uri)
        with speaking(f"read study {name}"):
            found = client.get_experiment_by_name(experiment)
            if found is None:
                raise TrackingError(f"there is no experiment {experiment!r} in {home.tracking_uri}")
            query = f"tags.`{STUDY}` = {quoted(name)} and tags.`{KIND}` = 'run'"
            runs = list(search_all(client, [found.experiment_id], query))
    except Outage as outage:
        raise TrackingError(str(outage)) from outage
    return [_study_run(run) for run in sorted(runs, key=lambda run: run.info.start_time)]


def supervisor_words() -> str:
    """Names this process, so that a study left behind by a killed one can be told from a live one."""
    me = identity()
    return f"{socket.gethostname()} {me['pid']} {me['started']:.2f}"


def is_supervisor_gone(words: str) -> bool:
    """Whether the process that `words` names was on this machine and is no more; False where that cannot be told."""
    host, *process = words.split(" ")
    if host != socket.gethostname():
        return False
    pid, started = process
    return not is_alive({"pid": int(pid), "started": float(started)})


def _open(home: Home, experiment: str, name: str, spec: Mapping[str, Any] | None) -> str:
    client = connect(home.tracking_uri)
    settings = spec or {}
    with speaking(f"open study {name}"):
        where = experiment_id(client, experiment, artifact_location(home))
        own = {key: value for key, value in settings.items() if key != "run"}
        tags = {**source_tags(), SUPERVISOR: supervisor_words(), **_digest_tag(settings)}
        run = attach_study(client, where, name, tags, flat_params(own))
        if run.info.status != "RUNNING":
            client.update_run(run.info.run_id, status="RUNNING")
        if settings and is_quick(run.info.artifact_uri):
            client.log_text(run.info.run_id, json.dumps(settings, indent=1, default=str), "sweep.json")
    return str(run.info.run_id)


def _digest_tag(sweep: Mapping[str, Any]) -> dict[str, str]:
    """What `reward` measures in the study's own run: trials that measure something else are told by it."""
    rewards = sweep.get("run", {}).get("rewards")
    return {REWARD_DIGEST: reward_digest(map(RewardSpec.model_validate, rewards))} if rewards else {}


def _find(client: MlflowClient, study: Study) -> str:
    with speaking(f"find study {study.name}"):
        where = experiment_id(client, study.experiment, None)
        run = find_study(client, where, study.name)
    if run is None:
        raise TrackingError(f"there is no study {study.name!r} in {study.tracking_uri}")
    return str(run.info.run_id)


def _log_files(
    client: MlflowClient, run_id: str, leaderboard: Sequence[Mapping[str, Any]], figures: Sequence[Path]
) -> str | None:
    """Files that cannot be stored are told by a tag: the study's own record matters more."""
    try:
        for figure in figures:
            client.log_artifact(run_id, str(figure), "figures")
        if leaderboard:
            columns = {name: [row.get(name) for row in leaderboard] for name in leaderboard[0]}
            client.log_table(run_id, columns, "leaderboard.json")
    except Exception as error:  # noqa: BLE001 - whatever an artifact store raises
        failure = f"the study's files are not in MLflow: {first_line(error)}"
        client.set_tag(run_id, UPLOAD, cut("failed: " + failure, TAG_LENGTH))
        return failure
    return None


def _study_run(run: Run) -> StudyRun:
    tags: dict[str, str] = run.data.tags
    return StudyRun(
        run.info.run_id,
        tags.get(RUN_KEY, ""),
        run.info.status,
        tags.get(ENDING),
        run.data.params,
        run.data.metrics,
        tags,
    )
