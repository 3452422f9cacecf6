"""A run on the server: found by its key, or made; continued, never duplicated."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from mlflow import MlflowClient
from mlflow.entities import Param, Run, RunTag
from mlflow.exceptions import MlflowException

from grpo_ops.tracking.connection import speaking
from grpo_ops.tracking.datasets import training_input
from grpo_ops.tracking.names import (
    ENDING,
    KIND,
    NOT_COMPARABLE,
    PARAMS_CHANGED,
    PARENT,
    REWARD_DIGEST,
    RUN_KEY,
    STOP_REASON,
    STUDY,
    TAG_LENGTH,
    UPLOAD,
    cut,
    quoted,
)
from grpo_ops.tracking.params import changed_params, flat_params
from grpo_ops.tracking.plan import RunPlan

_PAGE = 100
_OTHER_REWARDS = "reward: its rewards or their weights are not those of the study's run; compare eval_reward"
_QUICK_STORES = ("/", "file:", "mlflow-artifacts:")


def attach_run(client: MlflowClient, plan: RunPlan, *, start_time: float | None = None) -> Run:
    """The MLflow run of `plan`: found by run key or made, with its params, inputs and spec; status RUNNING.

    start_time: seconds since the epoch, for a run that is made after the fact. Raises Outage or TrackingError.
    """
    with speaking(f"open run {plan.run_key}"):
        experiment = experiment_id(client, plan.experiment, plan.artifacts)
        run = find_run(client, [experiment], plan.run_key) or _make_run(client, experiment, plan, start_time)
        if run.info.status != "RUNNING":
            _reopen(client, run)
        _bring_up_to_date(client, run, plan)
    return run


def find_run(client: MlflowClient, experiments: list[str], run_key: str) -> Run | None:
    """The run with this key, None where there is none; of several (two first starts at once) the oldest."""
    found = search_all(client, experiments, f"tags.`{RUN_KEY}` = {quoted(run_key)}")
    return min(found, key=lambda run: run.info.start_time, default=None)


def search_all(client: MlflowClient, experiments: list[str], filter_string: str) -> Iterator[Run]:
    """All matching runs, page by page."""
    token: str | None = None
    while True:
        page = client.search_runs(experiments, filter_string, max_results=1000, page_token=token)
        yield from page
        token = page.token
        if not token:
            return


def experiment_id(client: MlflowClient, name: str, artifacts: str | None) -> str:
    """Id of the experiment; made where it is missing, also by two processes at once."""
    found = client.get_experiment_by_name(name)
    if found is None:
        try:
            return client.create_experiment(name, artifact_location=artifacts)
        except MlflowException as error:
            found = client.get_experiment_by_name(name)
            if found is None:
                raise error
    return str(found.experiment_id)


def find_study(client: MlflowClient, experiment: str, name: str) -> Run | None:
    """The parent run of the study, None where there is none."""
    query = f"tags.`{STUDY}` = {quoted(name)} and tags.`{KIND}` = 'study'"
    return min(search_all(client, [experiment], query), key=lambda run: run.info.start_time, default=None)


def attach_study(
    client: MlflowClient, experiment: str, name: str, tags: Mapping[str, str], params: Mapping[str, str] | None = None
) -> Run:
    """The study's parent run: found by its name or made."""
    run = find_study(client, experiment, name)
    if run is None:
        run = client.create_run(experiment, run_name=name, tags={STUDY: name, KIND: "study"})
    log_settings(client, run, params or {}, tags)
    return run


def log_settings(
    client: MlflowClient, run: Run, params: Mapping[str, str], tags: Mapping[str, str] | None = None
) -> None:
    """Log new params and tags; a param that MLflow has with another value keeps it, and a tag tells the change."""
    known: dict[str, str] = run.data.params
    changed = changed_params(known, params)
    tags = dict(tags or {})
    if changed:
        tags[PARAMS_CHANGED] = cut(json.dumps(changed), TAG_LENGTH)
    new = [Param(name, value) for name, value in params.items() if name not in known]
    for start in range(0, max(len(new), 1), _PAGE):
        client.log_batch(run.info.run_id, params=new[start : start + _PAGE])
    client.log_batch(run.info.run_id, tags=[RunTag(name, value) for name, value in tags.items()])


def is_quick(artifact_uri: str) -> bool:
    """Whether a small file can be written there in the loop: on this machine or through the tracking server."""
    return artifact_uri.startswith(_QUICK_STORES)


def _make_run(client: MlflowClient, experiment: str, plan: RunPlan, start_time: float | None) -> Run:
    tags = {**plan.tags, RUN_KEY: plan.run_key, KIND: "run"}
    started = None if start_time is None else round(start_time * 1000)
    return client.create_run(experiment, start_time=started, run_name=plan.name, tags=tags)


def _reopen(client: MlflowClient, run: Run) -> None:
    """A run that goes on has no ending: not as a status, not as a tag."""
    client.update_run(run.info.run_id, status="RUNNING")
    for name in {ENDING, STOP_REASON, UPLOAD} & set(run.data.tags):
        client.delete_tag(run.info.run_id, name)


def _bring_up_to_date(client: MlflowClient, run: Run, plan: RunPlan) -> None:
    tags = dict(plan.tags)
    if plan.study is not None:
        parent_tags = {name: value for name, value in plan.tags.items() if name.startswith("mlflow.")}
        parent = attach_study(client, run.info.experiment_id, plan.study, parent_tags)
        tags |= {STUDY: plan.study, PARENT: parent.info.run_id, **_comparable(tags, parent)}
    log_settings(client, run, flat_params(plan.spec), tags)
    client.log_inputs(run.info.run_id, [training_input(plan.spec)])
    if is_quick(run.info.artifact_uri):
        log_json(client, run.info.run_id, plan.spec, "spec.json")


def _comparable(tags: Mapping[str, str], parent: Run) -> dict[str, str]:
    """A tag for a trial whose `reward` adds up something else than the study's own run does."""
    own, others = tags.get(REWARD_DIGEST), parent.data.tags.get(REWARD_DIGEST)
    return {NOT_COMPARABLE: _OTHER_REWARDS} if own and others and own != others else {}


def log_json(client: MlflowClient, run_id: str, document: Mapping[str, Any], path: str) -> None:
    client.log_text(run_id, json.dumps(document, indent=1), path)
