import json
import math
from pathlib import Path

import pytest

from grpo_ops.errors import CurveError
from grpo_ops.journal import Journal
from grpo_ops.reading import read_curve

MEAN_OF_10 = "one point is taken to be a mean over 10 steps, which is how far apart they are"
CURVES = Path(__file__).parents[2].parent / "shared" / "curves"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "header",
    [
        "step,reward",
        "global_step,train/reward",
        "train/global_step,train/rewards/mean",
        "Step,Reward",
        "_step,rewards/mean",
        "iteration,mean_reward",
        "trainer/global_step,critic/rewards/mean",
        "\ufeffstep, reward",
    ],
)
def test_columns_are_recognised(tmp_path, header):
    reading = read_curve(write(tmp_path / "a.csv", f"{header}\n1,0.1\n2,0.2\n"))
    assert (reading.curve.steps, reading.curve.rewards, reading.notes) == ((1, 2), (0.1, 0.2), ())


def test_columns_can_be_named_and_others_become_metrics(tmp_path):
    path = write(tmp_path / "a.csv", "n,score,kl,label\n1,0.1,0.01,a\n2,0.2,,b\n")
    curve = read_curve(path, step="n", reward="score", max_steps=10).curve
    assert curve.max_steps == 10
    assert set(curve.metrics) == {"kl"} and math.isnan(curve.metrics["kl"][1])


def test_a_tsv_and_a_table_without_steps(tmp_path):
    reading = read_curve(write(tmp_path / "a.tsv", "reward\tkl\n0.1\t1\n0.2\t2\n"))
    assert reading.curve.steps == (1, 2)
    assert reading.notes == ("no step column: rows are counted from 1",)


@pytest.mark.parametrize(
    ("rows", "steps", "rewards", "notes"),
    [
        ("1,0.1\n2,nan\n3,0.3", (1, 3), (0.1, 0.3), ["1 row without a finite reward left out, first at step 2"]),
        ("1,0.1\n2,\n3,inf", (1,), (0.1,), ["2 rows without a finite reward left out, first at step 2"]),
        ("1,0.1\n,0.2\n2.5,0.3\n3,0.4", (1, 3), (0.1, 0.4), ["2 rows without a whole step left out"]),
        ("1,0.1\n-1,0.2", (1,), (0.1,), ["1 row without a whole step left out"]),
        ("2,0.2\n1,0.1", (1, 2), (0.1, 0.2), ["the rows were not in the order of their steps and have been sorted"]),
        (
            "1,0.1\n2,0.2\n3,0.3\n2,0.5\n3,0.6",
            (1, 2, 3),
            (0.1, 0.5, 0.6),
            ["2 repeated steps: the last value counts (a resumed run)"],
        ),
        (
            "1,0.1\n2,0.2\n3,0.3\n9,0.4",
            (1, 2, 3, 9),
            (0.1, 0.2, 0.3, 0.4),
            ["1 gap in the steps, the longest from 3 to 9"],
        ),
        ("10,0.1\n20,0.2\n30,0.3", (10, 20, 30), (0.1, 0.2, 0.3), [MEAN_OF_10]),
        ("1.0,0.1\n2,0.2,extra\n3", (1, 2), (0.1, 0.2), ["1 row without a finite reward left out, first at step 3"]),
    ],
)
def test_what_is_mended_is_said(tmp_path, rows, steps, rewards, notes):
    reading = read_curve(write(tmp_path / "a.csv", f"step,reward\n{rows}\n"))
    assert (reading.curve.steps, reading.curve.rewards) == (steps, rewards)
    assert [*reading.notes] == notes


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "holds no table"),
        ("a.csv", "step,loss\n1,2\n", "has no reward column; it has 'step', 'loss': say which one is the reward"),
        ("a.csv", "step,reward\n", "no row with a whole step and a finite reward"),
        ("a.csv", "step,reward\n1,nan\n", "no row with a whole step and a finite reward"),
        ("a.json", "{", "is not JSON"),
        ("a.json", "[]", "has no log_history"),
        (
            "a.json",
            '{"log_history": [{"step": 1, "loss": 2}]}',
            "has no reward column; it has 'step', 'loss': say which one",
        ),
        ("a.jsonl", "", "holds no step with a reward"),
        ("a.jsonl", '{"kind": "step"}\n', "is not a journal of grpo-ops .a line lacks 'metrics'"),
        (
            "a.jsonl",
            '{"kind": "step", "step": 1, "metrics": {"reward": "x"}}\n',
            "is not a journal of grpo-ops .a line holds a wrong value: must be real number, not str",
        ),
        ("a.parquet", "no parquet", "is not a Parquet file"),
        ("a.png", "x", "is not a curve: give a CSV"),
    ],
)
def test_what_is_not_a_curve_is_refused_in_one_sentence(tmp_path, name, content, message):
    path = write(tmp_path / name, content)
    with pytest.raises(CurveError, match=message) as caught:
        read_curve(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_binary_missing_and_empty_places_are_refused(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"\x89PNG\xff\x00\xfe")
    for path, message in ((tmp_path / "a.csv", "is not text"), (tmp_path / "b", "no file"), (tmp_path, "is a folder")):
        with pytest.raises(CurveError, match=message):
            read_curve(path)
    with pytest.raises(CurveError, match="has no column 'score'"):
        read_curve(write(tmp_path / "c.csv", "step,reward\n1,2\n"), reward="score")
    with pytest.raises(CurveError, match="max_steps 1 is before the curve's last step 2"):
        read_curve(write(tmp_path / "c.csv", "step,reward\n2,2\n"), max_steps=1)


def test_a_trainer_state(tmp_path):
    log = [
        {"step": 5, "epoch": 0.1, "loss": 0.0, "reward": 0.2, "kl": 0.01},
        {"step": 5, "eval_loss": 0.1, "eval_reward": 0.9},
        {"step": 10, "epoch": 0.2, "loss": 0.0, "reward": 0.3, "kl": 0.02},
        {"step": 10, "loss": 0.0, "reward": 0.35, "kl": 0.03},
        {"step": 15, "loss": 0.0, "reward": "NaN"},
        {"step": 20, "reward": 0.4},
        {"step": 20, "train_runtime": 12.0, "train_loss": 0.0},
    ]
    write(tmp_path / "trainer_state.json", json.dumps({"log_history": log, "max_steps": 100, "global_step": 20}))
    reading = read_curve(tmp_path)
    assert reading.curve.steps == (5, 10, 20)
    assert reading.curve.rewards == (0.2, 0.35, 0.4)
    assert reading.curve.max_steps == 100
    assert reading.notes == (
        "1 row without a finite reward left out, first at step 15",
        "1 repeated step: the last value counts (a resumed run)",
        MEAN_OF_10.replace("10", "5"),
    )
    assert read_curve(tmp_path / "trainer_state.json", reward="eval_reward").curve.rewards == (0.9,)


@pytest.mark.parametrize(
    ("logging_steps", "steps", "notes"),
    [
        (10, (10, 20, 40), ["one point is a mean over 10 steps (logging_steps)"]),
        (1, (10, 20, 30), []),
        (None, (10, 20, 30), [MEAN_OF_10]),
        ("many", (10, 20, 30), [MEAN_OF_10]),
        (None, (10, 20, 35), []),
        (None, (10, 20), []),
    ],
)
def test_points_that_are_means_over_steps_are_said(tmp_path, logging_steps, steps, notes):
    log = [{"step": step, "reward": 0.5} for step in steps]
    write(tmp_path / "a.json", json.dumps({"log_history": log, "logging_steps": logging_steps, "max_steps": True}))
    reading = read_curve(tmp_path / "a.json")
    assert [note for note in reading.notes if "mean" in note] == notes and reading.curve.max_steps is None


@pytest.mark.parametrize(
    "text",
    [
        '"step","reward","note"\n1,"0.1","a, b"\n2,0.2,"c\nd"\n',
        "step,reward,note\r\n1,0.1,a\r\n\r\n2,0.2,b\r\n",
        "step,reward,note\r1,0.1,a\r2,0.2,b\r",
        "step,reward\n1,0.1,more\n2,0.2\n",
        "step,reward,reward_std\n1, 0.1 ,\n2,2e-1\n",
    ],
)
def test_quoted_ragged_and_foreign_lines_of_a_csv(tmp_path, text):
    (tmp_path / "a.csv").write_text(text, newline="")
    reading = read_curve(tmp_path / "a.csv")
    assert (reading.curve.steps, reading.curve.rewards) == ((1, 2), (0.1, 0.2))
    assert (reading.notes, reading.curve.metrics) == ((), {})


def test_our_journal_keeps_the_first_value(tmp_path):
    path = tmp_path / "journal.jsonl"
    for attempt, rewards in enumerate([{1: 0.1, 2: 0.2, 3: float("nan")}, {2: 0.9, 4: 0.4}]):
        with Journal(path, attempt) as journal:
            journal.append("start", max_steps=50)
            for step, reward in rewards.items():
                journal.step(step, {"reward": reward, "kl": 0.1})
            journal.append("evaluation", step=0, mean=0.5, digest="d", prompt_ids=["a"], outcomes=[0.5], ask=None)
    with path.open("a") as file:
        file.write('{"kind": "ste')
    reading = read_curve(tmp_path)
    assert (reading.curve.steps, reading.curve.rewards, reading.curve.max_steps) == ((1, 2, 4), (0.1, 0.2, 0.4), 50)
    assert reading.notes[:2] == ("1 step without a finite reward left out", "1 repeated step: the first value counts")
    assert [evaluation.mean for evaluation in reading.evaluations] == [0.5]
    assert read_curve(path).curve == reading.curve


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "step": pyarrow.array([1, 2, 3], "int32"),
        "reward": [0.1, None, 0.3],
        "name": ["a", "b", "c"],
        "kl": ["0.5", None, "x"],
        "done": [True, None, False],
        "at": pyarrow.array([1, 2, 3], "timestamp[ns]"),
        "lists": [[1], [2], [3]],
        "count": pyarrow.array([7, None, 9]),
    }
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    reading = read_curve(tmp_path / "a.parquet")
    assert (reading.curve.steps, reading.curve.rewards) == ((1, 3), (0.1, 0.3))
    assert set(reading.curve.metrics) == {"kl", "done", "count"} and reading.curve[1].metrics == {"done": 0, "count": 9}


def test_every_public_curve_is_read():
    if not CURVES.is_dir():
        pytest.skip("the public curves are not on this machine")
    curves = [read_curve(path).curve for path in CURVES.glob("*.csv")]
    assert len(curves) >= 200 and all(len(curve) >= 10 for curve in curves)
