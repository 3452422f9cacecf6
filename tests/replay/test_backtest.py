import csv
import json
from pathlib import Path

import numpy as np
import pytest

from grpo_ops.errors import CurveError
from grpo_ops.replay import backtest, load_sources, mean_rows

RECORDED = Path(__file__).parents[2] / "benchmarks" / "sweeps"
SHARED = Path(__file__).parents[2].parent / "shared" / "curves"


def write_curve(path: Path, rewards) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("step", "reward"), *((step, float(r)) for step, r in enumerate(rewards, 1))])


@pytest.fixture
def study(tmp_path) -> Path:
    """A sweep file of eight trials that saturate at levels which follow from their learning rates."""
    random, trials = np.random.default_rng(0), []
    for number in range(8):
        x = np.arange(1, 101) / 100
        rewards = 0.2 + (0.1 + 0.08 * number) * (1 - np.exp(-x / 0.3)) + random.normal(0, 0.02, 100)
        write_curve(tmp_path / f"study/trial-{number}.csv", rewards)
        params = {"learning_rate": 10 ** (-5 + 0.25 * number)}
        trials.append({"trial": f"trial-{number}", "curve": f"study/trial-{number}.csv", "params": params})
    path = tmp_path / "study.json"
    path.write_text(json.dumps({"name": "study", "trials": trials}))
    return path


def test_a_sweep_has_rows_of_each_method_at_each_progress(study):
    rows = backtest(load_sources([study]), siblings=5, draws=20)
    assert {(row.method, row.siblings) for row in rows} == {
        ("law", 5),
        ("law", 0),
        ("last_value", 0),
        ("calibrated_last_value", 5),
    }
    assert [row.progress for row in rows if row.method == "last_value"] == [0.1, 0.2, 0.3, 0.5, 0.7]
    assert all(row.n == 20 for row in rows)
    law, calibrated = (
        [r.crps for r in rows if (r.method, r.siblings) == (m, 5)] for m in ("law", "calibrated_last_value")
    )
    assert np.mean(law) < 0.8 * np.mean(calibrated)


def test_the_seed_decides_the_draws(study):
    sources = load_sources([study])
    one, same, other = (backtest(sources, draws=10, seed=seed) for seed in (0, 0, 1))
    assert one == same != other


def test_errors_shrink_with_progress_and_units_do_not_depend_on_the_scale(study, tmp_path):
    rows = [row for row in backtest(load_sources([study]), draws=20) if row.method == "last_value"]
    assert [row.abs_error_median for row in rows] == sorted((row.abs_error_median for row in rows), reverse=True)
    document = json.loads(study.read_text())
    for trial in document["trials"]:
        with (tmp_path / trial["curve"]).open() as file:
            rewards = [100 * float(row["reward"]) - 3 for row in csv.DictReader(file)]
        write_curve(tmp_path / trial["curve"], rewards)
    scaled = [row for row in backtest(load_sources([study]), draws=20) if row.method == "last_value"]
    assert [row.crps for row in scaled] == pytest.approx([row.crps for row in rows], rel=1e-6)


def test_a_study_that_is_minimised_is_turned_round(study):
    document = json.loads(study.read_text()) | {"direction": "minimize"}
    upright = load_sources([study])[0]
    study.write_text(json.dumps(document))
    turned = load_sources([study])[0]
    assert turned.curves[0].rewards == tuple(-reward for reward in upright.curves[0].rewards)


def test_curves_on_their_own_have_no_siblings(study, tmp_path):
    rows = backtest(load_sources([tmp_path / "study" / "trial-1.csv"]))
    assert {(row.method, row.siblings, row.n) for row in rows} == {("law", 0, 1), ("last_value", 0, 1)}


def test_a_folder_gives_its_sweeps_and_the_curves_that_none_of_them_names(study, tmp_path):
    write_curve(tmp_path / "alone.csv", np.linspace(0, 1, 30))
    write_curve(tmp_path / "study" / "trial-1.evals.csv", np.linspace(0, 1, 30))
    assert [source.name for source in load_sources([tmp_path])] == ["study", "alone"]


def test_means_weigh_sources_equally(study, tmp_path):
    sources = load_sources([study, tmp_path / "study" / "trial-1.csv"])
    rows = [row for row in backtest(sources, draws=10) if row.method == "last_value" and row.progress == 0.3]
    mean = next(r for r in mean_rows(backtest(sources, draws=10)) if r.method == "last_value" and r.progress == 0.3)
    assert mean.crps == pytest.approx((rows[0].crps + rows[1].crps) / 2)
    assert (mean.source, mean.n) == ("mean of 2", 11)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"trials": [{"trial": "a"}]}', "trial 0 names no curve"),
        ('{"trials": [{"curve": "gone.csv"}]}', "gone.csv"),
        ('{"trials": [null]}', "trial 0 names no curve"),
        ('{"trials": ["a.csv"]}', "trial 0 names no curve"),
        ('{"trials": [{"curve": "a.csv", "params": [1]}]}', "the params of trial 0 are no table"),
        ('{"trials": [{"curve": "a\\u0000b.csv"}]}', "there is no file at 'a.x00b.csv'"),
        (
            '{"trials": [{"curve": "a.csv", "max_steps": "x"}]}',
            "max_steps of trial 0 must be a whole number but is 'x'",
        ),
        ('{"trials": [{"curve": "a.csv", "max_steps": ""}]}', "max_steps of trial 0 must be a whole number but is ''"),
        ('{"trials": [{"curve": "a.csv", "evals": 5}]}', "evals of trial 0 must be text but is 5"),
        ('{"trials": [{"curve": "a.csv", "ending": 0}]}', "ending of trial 0 must be text but is 0"),
        ('{"direction": "down", "trials": [{"curve": "a.csv"}]}', "must be 'maximize' or 'minimize' but is 'down'"),
        ("{", "is not JSON"),
        ('{"trials": []}', "is a sweep without trials"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_a_broken_sweep_file_is_refused_in_one_sentence(tmp_path, content, message):
    path = tmp_path / "broken.json"
    path.write_text(content)
    for source in (path, tmp_path):
        with pytest.raises(CurveError, match=message):
            load_sources([source])


def test_what_is_named_twice_counts_once(study):
    assert len(load_sources([study, study.parent / "." / study.name])) == 1


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(CurveError, match="no curve and no sweep file"):
        load_sources([tmp_path])
