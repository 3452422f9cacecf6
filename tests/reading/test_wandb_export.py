import math

import pytest

from grpo_ops.errors import CurveError
from grpo_ops.reading import read_curve

ONE = '"Step","calm-bird-7 - train/reward","calm-bird-7 - train/reward__MIN","calm-bird-7 - train/reward__MAX"\n'
TWO = '"Step","a - b - train/reward","a - b - train/reward__MIN","c - train/reward","c - train/reward__MIN"\n'


def test_a_chart_of_one_run(tmp_path):
    (tmp_path / "a.csv").write_text(ONE + '"10","0.1","0.1","0.1"\n"20","0.2","0.2","0.2"\n')
    reading = read_curve(tmp_path / "a.csv")
    assert (reading.curve.steps, reading.curve.rewards) == ((10, 20), (0.1, 0.2))
    assert reading.curve.metrics == {} and reading.notes == ()


def test_a_chart_of_one_run_with_two_metrics_over_the_trainers_steps(tmp_path):
    header = '"train/global_step","r - train/reward","r - train/reward__MIN","r - train/kl","r - train/kl__MAX"\n'
    (tmp_path / "a.csv").write_text(header + '"1","0.1","0.1","0.01","0.01"\n')
    curve = read_curve(tmp_path / "a.csv").curve
    assert (curve.steps, curve.rewards, curve.metrics) == ((1,), (0.1,), {"kl": (0.01,)})


def test_a_chart_of_two_runs_must_be_told_which(tmp_path):
    (tmp_path / "a.csv").write_text(TWO + '"1","0.1","0.1","0.5","0.5"\n"2","","","0.6","0.6"\n')
    with pytest.raises(CurveError, match=r"the rewards of 2 runs, 'a - b', 'c': .* such as reward='a - b - train/rew"):
        read_curve(tmp_path / "a.csv")
    assert read_curve(tmp_path / "a.csv", reward="a - b - train/reward").curve.rewards == (0.1,)
    chosen = read_curve(tmp_path / "a.csv", reward="c - train/reward").curve
    assert (chosen.rewards, chosen.metrics) == ((0.5, 0.6), {})


def test_a_column_with_a_dash_is_not_a_chart_by_that_alone(tmp_path):
    (tmp_path / "a.csv").write_text("step,reward,kl - mean\n1,0.1,0.5\n")
    assert read_curve(tmp_path / "a.csv").curve.metrics == {"kl - mean": (0.5,)}


def test_the_history_counts_the_trainers_steps(tmp_path):
    (tmp_path / "a.csv").write_text(
        "_step,_timestamp,_runtime,train/global_step,train/reward,train/kl,eval/reward\n"
        "0,1e9,1,5,0.1,0.01,\n1,1e9,2,5,,,0.9\n2,1e9,3,10,0.2,,\n3,1e9,4,15,0.3,0.03,\n"
    )
    reading = read_curve(tmp_path / "a.csv")
    assert (reading.curve.steps, reading.curve.rewards) == ((5, 10, 15), (0.1, 0.2, 0.3))
    assert set(reading.curve.metrics) == {"_step", "_timestamp", "_runtime", "kl"}
    assert math.isnan(reading.curve.metrics["kl"][1])
    assert reading.notes[0] == "1 row without a finite reward left out, first at step 5"
    assert read_curve(tmp_path / "a.csv", reward="eval_reward").curve.rewards == (0.9,)


@pytest.mark.parametrize("header", ["step,eval_reward", "step,eval/reward", "step,eval_rewards/mean"])
def test_evaluations_are_read_where_asked_for_only(tmp_path, header):
    (tmp_path / "a.csv").write_text(f"{header}\n1,0.1\n")
    name = header.removeprefix("step,").replace("eval/", "eval_")
    with pytest.raises(CurveError, match=f"no training reward, only that of evaluations: say reward='{name}'"):
        read_curve(tmp_path / "a.csv")
    assert read_curve(tmp_path / "a.csv", reward=name).curve.rewards == (0.1,)
