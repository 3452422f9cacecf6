"""Whatever is in a file: it is a curve, or it is refused in one sentence."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_ops.errors import CurveError, MissingExtraError
from grpo_ops.reading import read_curve

NAMES = [
    "a.csv", "a.tsv", "a.parquet", "a.json", "a.jsonl", "journal.jsonl", "trainer_state.json", "a.log", "a.txt",
    "a.out", "a", "a.PNG", "events.out.tfevents.1.host",
]  # fmt: skip
TOKENS = [
    "step", "reward", "train/reward", "eval_reward", "run - train/reward", "kind", "metrics", "data", "log_history",
    "'", '"', "{", "}", "[", "]", ",", ":", "\t", "\n", "\r", "1", "2", "0.5", "-1", "1e300", "nan", "NaN", "null",
    "true", "1" * 400, "1" * 5000, " 40%|##  | 4/10 [", "0/0 [", "\ufeff", "\0", "é",
]  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(TOKENS[:9]), inner, max_size=4),
    max_leaves=12,
)
LINE = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["start", "step", "evaluation"]) | JSON,
        **dict.fromkeys(("step", "reward", "max_steps", "outcomes", "prompt_ids", "digest", "nonfinite"), JSON),
        "metrics": st.dictionaries(st.sampled_from(["reward", "kl"]), JSON) | JSON,
    },
)
TEXTS = st.text() | st.lists(st.sampled_from(TOKENS)).map("".join)
LINES = st.lists(LINE, max_size=4)
CONTENTS = st.one_of(
    st.binary(),
    TEXTS.map(lambda text: text.encode(errors="replace")),
    LINES.map(lambda lines: "".join(f"{json.dumps(line)}\n" for line in lines).encode()),
    LINES.map(lambda lines: json.dumps({"log_history": lines, "max_steps": 10}).encode()),
)


@pytest.mark.parametrize("name", NAMES)
@given(content=CONTENTS, reward=st.sampled_from([None, "reward", "eval_reward", "x"]))
@settings(max_examples=60, deadline=None)
def test_a_file_is_a_curve_or_refused_in_one_sentence(name, content, reward):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        check(path, reward)


def check(path, reward=None):
    try:
        curve = read_curve(path, reward=reward).curve
    except (CurveError, MissingExtraError) as error:
        assert str(path) in str(error) or isinstance(error, MissingExtraError)
        assert "\n" not in str(error)
    else:
        assert len(curve) and isinstance(hash(curve), int)


@settings(max_examples=60, deadline=None)
@given(place=st.integers(0, 10**6), byte=st.integers(0, 255), cut=st.booleans())
def test_a_damaged_parquet_or_event_file_too(place, byte, cut):
    parquet, pyarrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    writer = pytest.importorskip("torch.utils.tensorboard")
    with tempfile.TemporaryDirectory() as folder:
        parquet.write_table(
            pyarrow.table({"step": [1, 2], "reward": [0.1, 0.2], "a": ["x", "y"]}), f"{folder}/a.parquet"
        )
        with writer.SummaryWriter(folder) as events:
            events.add_scalar("train/reward", 0.5, 1)
        for path in list(Path(folder).iterdir()):
            data = bytearray(path.read_bytes())
            data[place % len(data)] = byte
            path.write_bytes(data[: place % len(data)] if cut else data)
            check(path)


@pytest.mark.parametrize("path", ["", "\0", "x" * 5000, "no/such/file.csv"])
def test_a_path_that_names_no_file_is_refused(path):
    with pytest.raises(CurveError):
        read_curve(path)
