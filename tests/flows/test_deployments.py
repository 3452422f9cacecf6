"""`prefect deployment run` on a real server and worker: what was asked for is there, in all three systems."""

import json
import tomllib

import optuna
import pytest
from mlflow import MlflowClient
from optuna.trial import TrialState

from tests.flows.conftest import ROOT

NAMES = ["grpo-forecast/local", "grpo-promote/local", "grpo-sweep/local", "grpo-train/local"]


def sweep_parameters():
    run = tomllib.loads((ROOT / "deployments/runs/demo.toml").read_text())
    run["model"]["id"] = "starter:arith-xs@0.3"
    run["grpo"] |= {"max_steps": 20, "per_device_train_batch_size": 16}
    run["evaluation"] |= {"every": 5, "prompts": 32}
    space = {"grpo.learning_rate": {"choices": [1e-5, 1e-4, 2e-3]}}
    return {"spec": {"name": "flow", "trials": 3, "parallel": 2, "sampler": "random", "space": space, "run": run}}


def watch(prefect, deployment, parameters, check=True):
    arguments = ("--params", json.dumps(parameters), "--watch", "--watch-interval", "1")
    return prefect("deployment", "run", deployment, *arguments, check=check)


@pytest.fixture(scope="module")
def sweep(prefect):
    return watch(prefect, "grpo-sweep/local", sweep_parameters())


def test_every_flow_has_its_deployment_and_a_second_deploy_changes_nothing(prefect):
    def listed():
        return sorted(f"{d['flow_name']}/{d['name']}" for d in deployments(prefect))

    assert listed() == NAMES
    prefect("deploy", "--all", "--prefect-file", "deployments/prefect.yaml")
    assert listed() == NAMES
    for deployment in deployments(prefect):
        assert deployment["work_pool_name"] == "grpo-local"
        assert deployment["pull_steps"] == [
            {"prefect.deployments.steps.set_working_directory": {"directory": str(ROOT)}}
        ]


def deployments(prefect):
    """Deployments as the API has them, each with the name of its flow."""
    found = post(prefect, "deployments/filter")
    flows = {flow["id"]: flow["name"] for flow in post(prefect, "flows/filter")}
    return [deployment | {"flow_name": flows[deployment["flow_id"]]} for deployment in found]


def post(prefect, path, **body):
    import urllib.request

    request = urllib.request.Request(
        f"{prefect.environment['PREFECT_API_URL']}/{path}",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


def test_a_sweep_is_in_optuna_mlflow_and_prefect(prefect, sweep):
    home = prefect.home
    storage = f"sqlite:///{home}/optuna.db"
    (name,) = optuna.get_all_study_names(storage)
    study = optuna.load_study(study_name=name, storage=storage)
    assert [trial.state for trial in study.trials if trial.state is TrialState.RUNNING] == []
    told = [trial for trial in study.trials if trial.state in (TrialState.COMPLETE, TrialState.PRUNED)]
    assert len(told) == 3

    client = MlflowClient(f"sqlite:///{home}/mlflow.db")
    experiment = client.get_experiment_by_name("grpo-ops")
    runs = client.search_runs([experiment.experiment_id], f"tags.`grpo_ops.study` = '{name}'")
    keys = {run.data.tags.get("grpo_ops.run_key") for run in runs}
    assert keys == {None, *(trial.user_attrs["run_key"] for trial in told)}
    assert {run.info.status for run in runs} <= {"FINISHED", "KILLED"}

    (flow_run,) = [run for run in post(prefect, "flow_runs/filter") if f"run_key:{name}" in run["tags"]]
    assert (flow_run["state_type"], flow_run["parameters"]["spec"]["name"]) == ("COMPLETED", "flow")
    artifacts = post(prefect, "artifacts/filter")
    (leaderboard,) = [artifact for artifact in artifacts if artifact["key"] == "grpo-leaderboard"]
    rows = json.loads(leaderboard["data"])
    assert sorted(row["trial"] for row in rows) == [0, 1, 2]
    assert {row["ending"] for row in rows} <= {"finished", "plateau", "hopeless", "diverged"}


def test_its_best_checkpoint_is_promoted_and_a_run_of_it_forecast(prefect, sweep):
    watch(prefect, "grpo-promote/local", {"spec": {"model": "flow-model", "study": "flow-*"}})
    client = MlflowClient(f"sqlite:///{prefect.home}/mlflow.db")
    states = {run["state_name"] for run in post(prefect, "flow_runs/filter")}
    champions = client.search_model_versions("name = 'flow-model'")
    assert len(champions) == (0 if "Refused" in states else 1)
    (run, *_) = (prefect.home / "runs").iterdir()
    watch(prefect, "grpo-forecast/local", {"run": run.name})
    keys = {artifact["key"] for artifact in post(prefect, "artifacts/filter")}
    assert {"grpo-forecast", "grpo-leaderboard", "grpo-promotion-gates"} <= keys


def test_a_wrong_parameter_is_refused_before_a_run_is_made(prefect):
    parameters = sweep_parameters()
    parameters["spec"]["trails"] = 3
    done = watch(prefect, "grpo-sweep/local", parameters, check=False)
    assert done.returncode == 1
    assert "'trails' was unexpected" in done.stdout + done.stderr


def test_a_caller_may_not_name_code_to_run(prefect):
    parameters = {"spec": sweep_parameters()["spec"]["run"]}
    parameters["spec"]["rewards"] = [{"name": "os:system"}]
    done = watch(prefect, "grpo-train/local", parameters, check=False)
    assert done.returncode == 1
    (run,) = [run for run in post(prefect, "flow_runs/filter") if run["state_type"] == "FAILED"]
    assert "os:system" in run["state"]["message"]
