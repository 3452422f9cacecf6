"""The journal: what was written is read back, torn lines are not, a step's first value counts."""

import json
import math
import pickle

import pytest

from grpo_ops import errors
from grpo_ops.curve import Evaluation, Observation, RewardCurve, evaluation_curve
from grpo_ops.errors import CurveError, JournalError
from grpo_ops.journal import Journal, JournalReader, RunFolder, journal_curve, journal_evaluations, read_journal


def test_lines_are_read_back_in_order(tmp_path):
    with Journal(tmp_path / "journal.jsonl", attempt=0) as journal:
        journal.append("start", pid=1, max_steps=3, resumed_from=None, versions={})
        journal.step(1, {"reward": 0.25, "loss": 0.5})
        journal.step(2, {"reward": 0.5, "grad_norm": math.nan, "kl": math.inf})
    entries = read_journal(tmp_path / "journal.jsonl")
    assert [entry["kind"] for entry in entries] == ["start", "step", "step"]
    assert entries[2]["metrics"] == {"reward": 0.5}
    assert entries[2]["nonfinite"] == {"grad_norm": "nan", "kl": "inf"}
    curve = journal_curve(entries)
    assert (curve.steps, curve.rewards, curve.max_steps) == ((1, 2), (0.25, 0.5), 3)
    assert curve[0].metrics == {"loss": 0.5}
    assert curve[1].metrics == {}


def test_b10_torn_last_line_is_left_alone_until_it_is_complete(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"kind": "step", "step": 1}\n{"kind": "st')
    reader = JournalReader(path)
    assert [entry["step"] for entry in reader.poll()] == [1]
    with path.open("ab") as file:
        file.write(b'ep", "step": 2}\n')
    assert [entry["step"] for entry in reader.poll()] == [2]
    assert reader.broken == 0


def test_writer_starts_a_new_line_behind_a_torn_one(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"kind": "step", "step": 1, "attempt": 0, "metrics": {"reward": 1.0}}\n{"kind": "st')
    with Journal(path, attempt=1) as journal:
        journal.step(2, {"reward": 0.5})
    reader = JournalReader(path)
    assert [entry["step"] for entry in reader.poll()] == [1, 2]
    assert reader.broken == 1


def test_first_value_of_a_repeated_step_counts(tmp_path):
    path = tmp_path / "journal.jsonl"
    for attempt, steps in enumerate([(1, 2, 3), (2, 3, 4)]):
        with Journal(path, attempt) as journal:
            for step in steps:
                journal.step(step, {"reward": step + 10.0 * attempt})
                journal.append(
                    "evaluation",
                    step=step,
                    mean=0.0,
                    digest="d",
                    prompt_ids=["a"],
                    outcomes=[float(attempt)],
                    seconds=0.1,
                    ask=None,
                )
    entries = read_journal(path)
    assert journal_curve(entries).rewards == (1.0, 2.0, 3.0, 14.0)
    assert [evaluation.mean for evaluation in journal_evaluations(entries)] == [0.0, 0.0, 0.0, 1.0]


def test_asked_for_evaluations_are_no_part_of_the_curve(tmp_path):
    with Journal(tmp_path / "j", 0) as journal:
        journal.append("evaluation", step=1, mean=1.0, digest="d", prompt_ids=["a"], outcomes=[1.0], ask="x")
    assert journal_evaluations(read_journal(tmp_path / "j")) == []


def test_missing_and_broken_files_are_one_sentence(tmp_path):
    folder = RunFolder(tmp_path / "run")
    with pytest.raises(JournalError, match="there is no journal at"):
        read_journal(folder.journal)
    assert folder.read_json(folder.result) is None
    folder.path.mkdir()
    folder.result.write_text("{")
    with pytest.raises(JournalError, match=r"result\.json is not JSON"):
        folder.read_json(folder.result)


def test_first_stop_reason_wins(tmp_path):
    folder = RunFolder(tmp_path)
    assert folder.stop_request() is None
    folder.request_stop("hopeless", "behind")
    folder.request_stop("cancelled", "late")
    assert folder.stop_request() == {"reason": "hopeless", "message": "behind"}


@pytest.mark.parametrize(
    ("steps", "rewards", "sentence"),
    [
        ((1, 1), (0.0, 0.0), "increase strictly"),
        ((2, 1), (0.0, 0.0), "increase strictly"),
        ((1,), (0.0, 0.0), "one reward a step"),
        ((1,), (math.nan,), "finite"),
    ],
)
def test_a_curve_refuses_what_is_none(steps, rewards, sentence):
    with pytest.raises(CurveError, match=sentence):
        RewardCurve(steps, rewards)


def test_curves_are_values():
    curve = RewardCurve.of([Observation(5, 0.1), Observation(10, 0.2, {"kl": 1.0}), Observation(15, 0.3)], 100)
    assert hash(curve) == hash(RewardCurve((5, 10, 15), (0.1, 0.2, 0.3), 100))
    assert (curve.spacing, curve.planned_points, len(curve.upto(12))) == (5, 20, 2)
    assert RewardCurve((0, 5, 10), (0.1, 0.2, 0.3), 100).planned_points == 21
    assert [row.metrics for row in curve] == [{}, {"kl": 1.0}, {}]


def test_evaluations_know_mean_and_error():
    evaluation = Evaluation(10, (1.0, 0.0, None, 1.0), ("a", "b", "c", "d"), "digest")
    assert evaluation.mean == pytest.approx(2 / 3)
    assert evaluation.standard_error == pytest.approx(1 / 3)
    nothing = Evaluation(20, (None,), ("a",), "digest")
    assert evaluation_curve([evaluation, nothing], 100).steps == (10,)
    with pytest.raises(CurveError):
        Evaluation(1, (1.0,), (), "digest")


def test_all_errors_are_picklable_and_standard():
    family = [error for error in vars(errors).values() if isinstance(error, type) and issubclass(error, Exception)]
    assert len(family) > 8
    for error in family:
        example = error("where", ["what"]) if error is errors.SpecError else None
        example = error("what", "extra") if error is errors.MissingExtraError else example or error("what")
        copy = pickle.loads(pickle.dumps(example))
        assert str(copy) == str(example)
        assert error is errors.GrpoOpsError or len(error.__mro__) > len(errors.GrpoOpsError.__mro__) + 1


def test_every_line_is_json_that_others_read(tmp_path):
    with Journal(tmp_path / "j", 0) as journal:
        journal.step(1, {"reward": math.nan})
    line = json.loads((tmp_path / "j").read_text(), parse_constant=pytest.fail)
    assert line["nonfinite"] == {"reward": "nan"}
