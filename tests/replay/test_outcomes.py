"""Evaluations prompt by prompt, from a table -> Evaluation, or one sentence."""

import json

import pytest

from grpo_ops.errors import CurveError
from grpo_ops.replay import load_sources
from grpo_ops.replay.outcomes import read_outcomes


def table(folder, *rows, header="step,mean,passed_by_prompt"):
    path = folder / "a.evals.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_each_row_is_an_evaluation(tmp_path):
    found = read_outcomes(table(tmp_path, "0,0.25,0100", "10,0.75,1101"), "sweep")
    assert [(one.step, one.mean) for one in found] == [(0, 0.25), (10, 0.75)]
    assert found[1].outcomes == (1, 1, 0, 1)
    assert found[0].prompt_ids == found[1].prompt_ids == ("0", "1", "2", "3")
    assert found[0].digest == found[1].digest != read_outcomes(table(tmp_path, "0,0.5,01"), "sweep")[0].digest


def test_rows_without_outcomes_are_left_out(tmp_path):
    assert read_outcomes(table(tmp_path, "0,0.25", header="step,mean"), "sweep") == ()
    assert [one.step for one in read_outcomes(table(tmp_path, "0,0.3,", "10,0.5,01"), "sweep")] == [10]


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("10,0.5,01x1", "passed_by_prompt at step 10 must be a 0 or 1 for each prompt but is '01x1'"),
        ("ten,0.5,01", "step must be a number but is 'ten'"),
        ("1e400,0.5,01", "step must be a number but is '1e400'"),
        ("10,0.5," + "01" * 70_000, "a.evals.csv cannot be read: field larger than field limit"),
    ],
)
def test_what_is_no_outcome_is_refused(tmp_path, row, sentence):
    with pytest.raises(CurveError, match=sentence):
        read_outcomes(table(tmp_path, row), "sweep")


def test_a_sweep_file_brings_outcomes_and_planned_steps(tmp_path):
    table(tmp_path, "0,0.25,0100", "2,0.75,1101")
    (tmp_path / "a.csv").write_text("step,reward\n1,0.1\n2,0.2\n3,0.3\n")
    trial = {"curve": "a.csv", "evals": "a.evals.csv", "max_steps": 8}
    (tmp_path / "sweep.json").write_text(json.dumps({"name": "s", "trials": [trial]}))
    (source,) = load_sources([tmp_path / "sweep.json"])
    assert [one.step for one in source.outcomes[0]] == [0, 2]
    assert source.curves[0].max_steps == source.evaluations[0].max_steps == 8
    (tmp_path / "sweep.json").write_text(json.dumps({"trials": [trial | {"max_steps": "8"}]}))
    with pytest.raises(CurveError, match="max_steps of trial 0 must be a whole number but is '8'"):
        load_sources([tmp_path / "sweep.json"])


def test_a_table_that_goes_on_after_the_planned_end_is_named(tmp_path):
    table(tmp_path, "0,0.25,0100", "20,0.75,1101")
    (tmp_path / "a.csv").write_text("step,reward\n1,0.1\n2,0.2\n3,0.3\n")
    (tmp_path / "sweep.json").write_text(
        json.dumps({"trials": [{"curve": "a.csv", "evals": "a.evals.csv", "max_steps": 8}]})
    )
    with pytest.raises(CurveError, match=r"a\.evals\.csv: max_steps 8 is before the curve's last step 20"):
        load_sources([tmp_path / "sweep.json"])


def test_a_table_that_is_no_csv_file_has_no_outcomes(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1\xff\xfe")
    assert read_outcomes(tmp_path / "a.parquet", "sweep") == ()
