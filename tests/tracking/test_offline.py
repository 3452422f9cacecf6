"""A real server that is down at the start, stops in the middle, or stays away."""

import json
import socket
import time

import pytest

from grpo_ops.errors import TrackingError
from grpo_ops.journal import Journal, JournalReader
from grpo_ops.tracking import close_study, open_run, open_study, reconcile, study_runs
from tests.processes import PATIENCE
from tests.tracking.world import (
    folder_of,
    history,
    make_spec,
    status_of_run,
    write_evaluation,
    write_start,
    write_steps,
)


@pytest.fixture
def journal(home):
    with Journal(folder_of(home, "s-001").journal, 0) as journal:
        yield journal


def catch_up(tracker):
    """Call as the loop does until the tracker is up to date: it tries again every few seconds."""
    deadline = time.monotonic() + PATIENCE
    while tracker.is_behind and time.monotonic() < deadline:
        tracker.log([])
        time.sleep(0.1)
    assert not tracker.is_behind, tracker.trouble


def test_a10_a_server_that_is_down_at_the_start_and_stops_in_the_middle_loses_nothing(home, server, journal):
    study = open_study(home, "grpo-ops", "s")
    tracker = open_run(home, make_spec(), "s-001", study="s")
    assert (study.run_id, tracker.run_id) == (None, None)
    assert "could not" in tracker.trouble
    reader = JournalReader(tracker.folder.journal)
    write_start(journal)
    write_steps(journal, range(1, 6))
    tracker.log(reader.poll())
    tracker.log_law(5, {"law/forecast": 0.5}, time.time())

    server.start()
    catch_up(tracker)
    assert [step for step, _ in history(server.uri, tracker.run_id, "reward")] == list(range(1, 6))
    assert history(server.uri, tracker.run_id, "law/forecast") == [(5, 0.5)]

    server.stop()
    write_steps(journal, range(6, 11))
    write_evaluation(journal, 10, 30)
    tracker.log(reader.poll())
    assert tracker.is_behind

    server.start()
    write_steps(journal, range(11, 16))
    tracker.log(reader.poll())
    catch_up(tracker)
    upload = tracker.close("finished", "all steps done")
    assert upload.wait(PATIENCE) is None
    assert close_study(study, "finished", [{"trial": 1, "reward": 0.5}]) is None
    assert [step for step, _ in history(server.uri, tracker.run_id, "reward")] == list(range(1, 16))
    assert history(server.uri, tracker.run_id, "eval_reward") == [(10, 0.75)]
    (run,) = study_runs(home, "grpo-ops", "s")
    assert (run.status, run.ending, run.tags["grpo_ops.upload"]) == ("FINISHED", "finished", "complete")


def test_a10_a_run_that_ends_while_the_server_is_away_is_made_and_closed_later(home, server, journal):
    tracker = open_run(home, make_spec(), "s-001", study="s")
    write_start(journal)
    write_steps(journal, range(1, 6))
    tracker.log([])
    tracker.log_law(5, {"law/forecast": 0.5}, time.time())
    assert tracker.close("hopeless", "it will not beat 0.8", metrics={"cost": 2.0}) is None
    pending = json.loads((tracker.folder.path / "tracking.pending").read_text())
    assert pending["ending"] == "hopeless"

    server.start()
    (repair,) = reconcile(home)
    assert repair.trouble is None
    assert repair.actions == ("make the run", "replay 5 journal lines", "close it as hopeless", "upload its files")
    (run,) = study_runs(home, "grpo-ops", "s")
    assert (run.status, run.ending, run.metrics["cost"]) == ("KILLED", "hopeless", 2.0)
    assert [step for step, _ in history(server.uri, run.run_id, "reward")] == list(range(1, 6))
    assert history(server.uri, run.run_id, "law/forecast") == [(5, 0.5)]
    assert status_of_run(server.uri, run.tags["mlflow.parentRunId"]) == "RUNNING"
    assert not (tracker.folder.path / "tracking.pending").exists()
    assert reconcile(home) == []


def test_a10_a_resumed_run_forgets_the_end_that_mlflow_never_heard_of(home, server, journal):
    first = open_run(home, make_spec(), "s-001")
    first.log_law(5, {"law/forecast": 0.5}, time.time())
    first.close("failed", "killed by SIGKILL")
    server.start()
    second = open_run(home, make_spec(), "s-001")
    second.log([])
    assert not (second.folder.path / "tracking.pending").exists()
    assert history(server.uri, second.run_id, "law/forecast") == [(5, 0.5)]
    assert status_of_run(server.uri, second.run_id) == "RUNNING"


@pytest.mark.parametrize("backlog", [0, 5])
def test_a_server_that_does_not_answer_counts_as_away(home, monkeypatch, backlog):
    with socket.create_server(("127.0.0.1", 0), backlog=backlog) as deaf:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{deaf.getsockname()[1]}")
        tracker = open_run(home, make_spec(), "k")
    assert tracker.is_behind
    assert tracker.trouble == "could not open run k: timed out"


def test_a_refused_connection_is_told_in_a_few_words(home, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:1")
    assert open_run(home, make_spec(), "k").trouble == "could not open run k: [Errno 111] Connection refused"
    with pytest.raises(TrackingError, match=r"MLflow cannot be reached: .*Connection refused"):
        reconcile(home)


def test_a_database_without_its_driver_is_an_error(home, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "oracle://me@nowhere/db")
    with pytest.raises(TrackingError, match=r"could not open|refused"):
        open_run(home, make_spec(), "k")
