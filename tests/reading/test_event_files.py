import sys

import pytest

from grpo_ops.errors import CurveError, MissingExtraError
from grpo_ops.reading import read_curve

event_pb2 = pytest.importorskip("tensorboard.compat.proto.event_pb2")
summary_pb2 = pytest.importorskip("tensorboard.compat.proto.summary_pb2")
tensor_util = pytest.importorskip("tensorboard.util.tensor_util")
writer = pytest.importorskip("tensorboard.summary.writer.event_file_writer")


def write(folder, values, suffix="", as_tensor=False):
    """`values`: (step, tag, number) in the order of their writing."""
    events = writer.EventFileWriter(str(folder), filename_suffix=suffix)
    for step, tag, number in values:
        if isinstance(number, str) or as_tensor:
            value = summary_pb2.Summary.Value(tag=tag, tensor=tensor_util.make_tensor_proto(number))
        else:
            value = summary_pb2.Summary.Value(tag=tag, simple_value=number)
        events.add_event(event_pb2.Event(step=step, summary=summary_pb2.Summary(value=[value])))
    events.close()
    return next(path for path in folder.iterdir() if path.name.endswith(f"{suffix}"))


RUN = [
    *[(step, "train/reward", step / 8) for step in (1, 2, 3)],
    *[(step, "train/kl", step / 4) for step in (1, 3)],
    (2, "eval/reward", 0.5),
    (0, "args", "a text"),
]


@pytest.mark.parametrize("as_tensor", [False, True])
def test_scalars_become_a_curve_and_metrics_by_their_trl_names(tmp_path, as_tensor):
    file = write(tmp_path, RUN, as_tensor=as_tensor)
    for place in (file, tmp_path):
        curve = read_curve(place).curve
        assert (curve.steps, curve.rewards) == ((1, 2, 3), (0.125, 0.25, 0.375))
        assert set(curve.metrics) == {"kl", "eval_reward"} and curve[2].metrics == {"kl": 0.75}
    assert read_curve(file, reward="eval_reward").curve.rewards == (0.5,)
    assert read_curve(file, reward="train/kl").curve.steps == (1, 3)


def test_torch_writes_what_is_read(tmp_path):
    tensorboard = pytest.importorskip("torch.utils.tensorboard")
    with tensorboard.SummaryWriter(str(tmp_path)) as own:
        for step in (10, 20, 30):
            own.add_scalar("train/reward", step / 40, step)
    reading = read_curve(tmp_path)
    assert (reading.curve.steps, reading.curve.rewards) == ((10, 20, 30), (0.25, 0.5, 0.75))
    assert reading.notes == ("one point is taken to be a mean over 10 steps, which is how far apart they are",)


def test_files_of_a_resumed_run_merge_and_the_last_value_counts(tmp_path):
    write(tmp_path, [(step, "train/reward", 0.25) for step in (1, 2, 3)], suffix=".a")
    write(tmp_path, [(step, "train/reward", 0.5) for step in (3, 4)], suffix=".b")
    reading = read_curve(tmp_path)
    assert (reading.curve.steps, reading.curve.rewards) == ((1, 2, 3, 4), (0.25, 0.25, 0.5, 0.5))
    assert reading.notes == ("1 repeated step: the last value counts (a resumed run)",)


def test_a_file_that_is_being_written_is_read_to_its_last_whole_record(tmp_path):
    file = write(tmp_path, RUN[:3])
    file.write_bytes(file.read_bytes()[:-5])
    assert read_curve(file).curve.steps == (1, 2)


def test_files_without_a_training_reward_are_refused(tmp_path):
    file = write(tmp_path, [(1, "eval/reward", 0.5)])
    with pytest.raises(CurveError, match="no training reward, only that of evaluations: say reward='eval_reward'"):
        read_curve(file)
    for content, message in ((b"no events", "holds no scalars"), (b"\x01" + b"\0" * 11 + b"\xff" * 9, "copy it again")):
        file.write_bytes(content)
        with pytest.raises(CurveError, match=message):
            read_curve(tmp_path)


def test_a_machine_without_tensorboard_is_told_the_extra(tmp_path, monkeypatch):
    file = write(tmp_path, RUN)
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto.event_pb2", None)
    with pytest.raises(MissingExtraError, match="needs the extra 'tensorboard'"):
        read_curve(file)
