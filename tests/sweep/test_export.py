"""Exported studies: what was written is what the journals say, and the readers take it."""

import csv
import json

import pytest

from grpo_ops.errors import SweepError
from grpo_ops.home import Home
from grpo_ops.journal import journal_curve, journal_evaluations, read_journal
from grpo_ops.replay import load_sources
from grpo_ops.sweep import export_study
from tests.sweep.helpers import load


def test_an_exported_study_is_read_as_it_was(stopped_home, tmp_path):
    study = load(stopped_home)
    written = export_study(study.study_name, tmp_path / "out", stopped_home)
    assert (written.trials, written.stopped) == (3, 1)
    (source,) = load_sources([written.path])
    assert source.name == study.study_name
    for number, (curve, evaluations, params) in enumerate(
        zip(source.curves, source.evaluations, source.params, strict=True)
    ):
        entries = read_journal(stopped_home.runs / f"{study.study_name}-00{number}" / "journal.jsonl")
        told = journal_curve(entries)
        assert curve.steps == told.steps
        assert curve.rewards == pytest.approx(told.rewards, abs=1e-5)
        assert curve.metrics["reward_std"] == told.metrics["reward_std"]
        assert evaluations.rewards == pytest.approx([found.mean for found in journal_evaluations(entries)])
        assert params == study.trials[number].params
    document = json.loads(written.path.read_text())
    assert [trial["ending"] for trial in document["trials"]] == ["finished", "finished", "hopeless"]
    assert document["note"].endswith("1 of 3 trials were stopped before their last step")
    with (tmp_path / "out" / document["trials"][0]["evals"]).open() as file:
        rows = list(csv.DictReader(file))
    assert {float(row["mean"]) == row["passed_by_prompt"].count("1") / 64 for row in rows} == {True}


def test_trials_whose_folders_are_elsewhere_are_written_as_optuna_has_them(stopped_home, tmp_path):
    study = load(stopped_home)
    other = Home(tmp_path / "other")
    written = export_study(study.study_name, tmp_path / "out", other, storage=stopped_home.optuna_url)
    (source,) = load_sources([written.path])
    reported = study.trials[0].intermediate_values
    assert dict(zip(source.evaluations[0].steps, source.evaluations[0].rewards, strict=True)) == pytest.approx(reported)


def test_what_cannot_be_exported_is_said(stopped_home, tmp_path):
    with pytest.raises(SweepError, match="there is no study 'nope' in"):
        export_study("nope", tmp_path, stopped_home)
    with pytest.raises(SweepError, match="that file does not exist"):
        export_study("nope", tmp_path, Home(tmp_path / "none"))
