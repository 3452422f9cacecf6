import json

import pytest

from grpo_ops.errors import CurveError
from grpo_ops.reading import read_curve

ENCODINGS = ["utf-8", "utf-8-sig", "utf-16"]
LINES = [{"step": 1, "reward": 0.25}, {"step": 2, "reward": 0.5}]
TEXTS = {
    "a.csv": "step,reward\n1,0.25\n2,0.5\n",
    "a.tsv": "step\treward\n1\t0.25\n2\t0.5\n",
    "a.jsonl": "".join(f"{json.dumps(line)}\n" for line in LINES),
    "a.json": json.dumps({"log_history": LINES}),
    "a.log": "".join(f"{line}\n" for line in LINES),
}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", TEXTS)
def test_every_text_is_read_in_every_encoding(tmp_path, name, encoding, newline):
    path = tmp_path / name
    path.write_bytes(TEXTS[name].replace("\n", newline).encode(encoding))
    curve = read_curve(path).curve
    assert (curve.steps, curve.rewards) == ((1, 2), (0.25, 0.5))


def test_an_integer_that_python_does_not_parse_is_refused(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"log_history": [{"step": 1, "reward": ' + "9" * 5000 + "}]}")
    with pytest.raises(CurveError, match="is not JSON"):
        read_curve(path)
