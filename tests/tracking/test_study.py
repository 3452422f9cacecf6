import os
import sqlite3
import subprocess
import sys

import pytest
from mlflow import MlflowClient

from grpo_ops.errors import TrackingError
from grpo_ops.home import Home
from grpo_ops.tracking import close_study, open_run, open_study, study_runs
from grpo_ops.tracking.study import is_supervisor_gone, supervisor_words
from tests.processes import PATIENCE
from tests.tracking.world import make_spec, status_of_run, tags_of

SWEEP = {"name": "s", "trials": 3, "space": {"grpo.learning_rate": {"low": 1e-5, "high": 1e-3}}, "run": {"name": "r"}}


def test_a_study_is_continued_not_doubled(home):
    first = open_study(home, "grpo-ops", "s", spec=SWEEP)
    assert close_study(first, "cancelled", note="**cancelled**") is None
    assert status_of_run(home.tracking_uri, first.run_id) == "KILLED"
    second = open_study(home, "grpo-ops", "s", spec=SWEEP)
    assert second.run_id == first.run_id
    assert status_of_run(home.tracking_uri, first.run_id) == "RUNNING"
    run = MlflowClient(home.tracking_uri).get_run(first.run_id)
    assert run.data.params["space.grpo.learning_rate.high"] == "0.001"
    assert run.info.run_name == "s"


def test_a_closed_study_has_its_leaderboard_and_words(home):
    study = open_study(home, "grpo-ops", "s")
    rows = [{"trial": 0, "ending": "finished", "reward": 0.5}, {"trial": 1, "ending": "hopeless", "reward": None}]
    assert close_study(study, "finished", rows, note="**Best**: trial 0") is None
    client = MlflowClient(home.tracking_uri)
    assert [file.path for file in client.list_artifacts(study.run_id)] == ["leaderboard.json"]
    assert tags_of(home.tracking_uri, study.run_id)["mlflow.note.content"] == "**Best**: trial 0"
    assert status_of_run(home.tracking_uri, study.run_id) == "FINISHED"


def test_files_that_cannot_be_stored_do_not_keep_a_study_open(home):
    study = open_study(home, "grpo-ops", "s")
    home.artifacts.write_text("a file where the folder should be")
    assert "the study's files are not in MLflow" in close_study(study, "finished", [{"trial": 0}])
    assert status_of_run(home.tracking_uri, study.run_id) == "FINISHED"


def insert_runs(home, experiment, keys):
    """Many runs, written into MLflow's own tables: through its client they would take half a minute."""
    common = {"user_id": "me", "status": "FINISHED", "lifecycle_stage": "active", "source_type": "LOCAL"}
    with sqlite3.connect(home.root / "mlflow.db") as database:
        for number, key in enumerate(keys):
            run_id = f"{number:032x}"
            row = {**common, "run_uuid": run_id, "name": key, "experiment_id": experiment, "start_time": 2**41 + number}
            names, marks = ", ".join(row), ", ".join("?" * len(row))
            database.execute(f"insert into runs ({names}) values ({marks})", list(row.values()))
            tags = {"grpo_ops.study": "s", "grpo_ops.kind": "run", "grpo_ops.run_key": key}
            database.executemany(
                "insert into tags (key, value, run_uuid) values (?, ?, ?)", [(k, v, run_id) for k, v in tags.items()]
            )


def test_all_trials_are_found_over_all_pages(home):
    study = open_study(home, "grpo-ops", "s")
    open_run(home, make_spec(), "s-000", study="s").close("hopeless", "why", upload=False)
    experiment = MlflowClient(home.tracking_uri).get_run(study.run_id).info.experiment_id
    insert_runs(home, int(experiment), [f"s-{number:03}" for number in range(1, 1005)])
    runs = study_runs(home, "grpo-ops", "s")
    assert len({run.run_key for run in runs}) == len(runs) == 1005
    assert (runs[0].run_key, runs[0].status, runs[0].ending) == ("s-000", "KILLED", "hopeless")


def test_a_study_in_no_experiment_is_an_error(home):
    with pytest.raises(TrackingError, match="there is no experiment 'other'"):
        study_runs(home, "other", "s")


def test_a_supervisor_is_known_by_pid_and_start_time():
    mine = supervisor_words()
    host, pid, started = mine.split(" ")
    assert not is_supervisor_gone(mine)
    assert is_supervisor_gone(f"{host} {pid} {float(started) - 100:.2f}")
    assert not is_supervisor_gone(f"elsewhere {pid} 1.0")
    assert not is_supervisor_gone("")


def test_two_first_starts_at_once_share_one_store(tmp_path):
    code = (
        "import sys; from pathlib import Path; from grpo_ops.home import Home; "
        "from grpo_ops.tracking import open_study; "
        "print(open_study(Home(Path(sys.argv[1])), 'grpo-ops', sys.argv[2]).run_id)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / "home"), name],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]
    outputs = [child.communicate(timeout=PATIENCE) for child in children]
    assert [child.returncode for child in children] == [0, 0], outputs
    home = Home(tmp_path / "home")
    client = MlflowClient(f"sqlite:///{home.root / 'mlflow.db'}")
    assert len([e for e in client.search_experiments() if e.name == "grpo-ops"]) == 1
    assert {client.get_run(out.strip()).info.run_name for out, _ in outputs} == {"one", "two"}
