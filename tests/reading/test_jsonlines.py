import pytest

from grpo_ops.errors import CurveError
from grpo_ops.reading import read_curve

FLAT = '{"step": 1, "reward": 0.1, "kl": 0.5}\n{"step": 2, "reward": 0.2}\n'
VERL = (
    '{"step": 0, "data": {"val-core/reward/mean": 0.3}}\n'
    '{"step": 1, "data": {"critic/rewards/mean": 0.1, "actor/entropy": 1}}\n'
    '{"step": 2, "data": {"critic/rewards/mean": 0.2, "actor/entropy": 2}}\n'
)
TORN = (
    'started\n{"train/global_step": 1, "train/reward": 0.1}\n\n{"train/global_step": 2, "train/reward": 0.2}\n{"train/'
)


@pytest.mark.parametrize("text", [FLAT, VERL, TORN])
def test_one_object_a_line(tmp_path, text):
    (tmp_path / "a.jsonl").write_text(text)
    reading = read_curve(tmp_path / "a.jsonl")
    assert (reading.curve.steps, reading.curve.rewards, reading.notes) == ((1, 2), (0.1, 0.2), ())


def test_verls_other_numbers_are_metrics(tmp_path):
    (tmp_path / "a.jsonl").write_text(VERL)
    assert read_curve(tmp_path / "a.jsonl").curve.metrics == {"actor/entropy": (1.0, 2.0)}
    assert read_curve(tmp_path / "a.jsonl", reward="val-core/reward/mean").curve.steps == (0,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello\n", "holds no JSON object: give one a line"),
        ('{"step": 1, "loss": 2}\n', "has no reward column; it has 'step', 'loss'"),
        ('{"kind": "train", "step": 1}\n', "has no reward column; it has 'kind', 'step'"),
        ("[" * 100_000, "holds no JSON object"),
        ('{"a":' * 100_000, "holds no JSON object"),
        ('{"reward": [1], "step": 1}', "no row with a whole step and a finite reward"),
    ],
)
def test_other_lines_are_refused(tmp_path, text, message):
    (tmp_path / "a.jsonl").write_text(text)
    with pytest.raises(CurveError, match=message):
        read_curve(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    "fields",
    [
        '"step": "1", "metrics": {"reward": 1}',
        '"step": 1.5, "metrics": {"reward": 1}',
        '"step": [1], "metrics": {"reward": 1}',
        '"step": 1, "metrics": {"reward": true}',
        '"step": 1, "metrics": {"reward": 1, "kl": "x"}',
        '"step": 1, "metrics": {"reward": 1' + "0" * 400 + "}",
        '"step": 1, "metrics": {"reward": NaN}',
        '"step": 1, "metrics": {"reward": 1}, "nonfinite": null',
        '"step": 1, "metrics": []',
    ],
)
def test_a_journal_with_a_wrong_value_is_refused(tmp_path, fields):
    (tmp_path / "journal.jsonl").write_text(f'{{"kind": "step", {fields}}}\n')
    with pytest.raises(CurveError, match=r"is not a journal of grpo-ops .a line holds a wrong value"):
        read_curve(tmp_path)
