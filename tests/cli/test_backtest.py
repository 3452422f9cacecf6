"""`grpo-ops backtest`: (arguments → rows, tables, exit code) on a small study, through the real command."""

import json

import pytest

KEYS = [
    "source",
    "progress",
    "method",
    "siblings",
    "n",
    "abs_error_median",
    "abs_error_p90",
    "crps",
    "coverage",
    "width",
]


def test_json_is_the_list_of_rows(call, study):
    done = call(
        "backtest", study / "sweep.json", study / "runs/trial-1.csv", "--draws", "2", "--siblings", "3", "--json"
    )
    assert (done.exit_code, done.stderr) == (0, "")
    rows = json.loads(done.stdout)
    assert all(list(row) == KEYS for row in rows)
    assert [row["source"] for row in rows] == ["small"] * 20 + ["trial-1"] * 10
    assert {(row["method"], row["siblings"]) for row in rows if row["source"] == "small"} == {
        ("law", 3),
        ("law", 0),
        ("last_value", 0),
        ("calibrated_last_value", 3),
    }


def test_rows_do_not_depend_on_the_other_sources(call, study):
    options = ("--draws", "2", "--json")
    alone = json.loads(call("backtest", study / "sweep.json", *options).stdout)
    both = json.loads(call("backtest", study / "runs/trial-1.csv", study / "sweep.json", *options).stdout)
    assert [row for row in both if row["source"] == "small"] == alone
    assert json.loads(call("backtest", study / "sweep.json", *options, "--seed", "1").stdout) != alone


def test_text_has_the_means_then_each_method(call, study):
    text = call("backtest", study / "sweep.json", study / "runs/trial-1.csv", "--draws", "2").stdout
    parts = [
        "All sources, each with the same weight",
        "law, 5 siblings: CRPS (truth inside) of each source",
        "law: CRPS (truth inside) of each source",
        "mean of 2",
        "last value: CRPS",
        "calibrated last value, 5 siblings: CRPS",
        "80% bands",
        "note: a single curve, so it has no siblings (trial-1)",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_one_source_needs_one_table(call, study):
    text = call("backtest", study / "sweep.json", "--draws", "2").stdout
    assert text.startswith("small\n")
    assert "of each source" not in text


def test_a_small_sweep_is_said_to_have_no_siblings(call, study, tmp_path):
    trials = [{"curve": str(study / f"runs/trial-{number}.csv")} for number in range(3)]
    (tmp_path / "three.json").write_text(json.dumps({"trials": trials}))
    text = call("backtest", tmp_path / "three.json").stdout
    assert "note: fewer than 7 runs, so each is forecast without siblings (three)" in text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--draws", "0"], "--draws is how often a run is drawn from each sweep, 1 or more, but got 0"),
        (["--siblings", "-1"], "--siblings is a number of runs, 0 or more, but got -1"),
        (["--level", "80"], "--level is a probability between 0 and 1, such as 0.8, but got 80"),
    ],
)
def test_options_that_cannot_be_meant(call, study, arguments, sentence):
    done = call("backtest", study / "sweep.json", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.strip() == f"grpo-ops: {sentence}"


def test_a_broken_path_stops_no_other(call, study, tmp_path):
    (tmp_path / "broken.json").write_text("{")
    alone = call("backtest", tmp_path / "broken.json")
    assert (alone.exit_code, alone.stdout) == (2, "")
    done = call("backtest", tmp_path / "broken.json", study / "runs/trial-1.csv", "--json")
    assert done.exit_code == 2
    assert "broken.json" in done.stderr
    assert {row["source"] for row in json.loads(done.stdout)} == {"trial-1"}
