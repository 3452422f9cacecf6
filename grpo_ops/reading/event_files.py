"""Curves from TensorBoard event files: the scalars under `train/reward` and its like. Imported on use."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from grpo_ops.errors import CurveError, MissingExtraError
from grpo_ops.reading.cleaning import Table, to_number
from grpo_ops.reading.columns import reward_name, table_of

Points = dict[str, tuple[list[int], list[float]]]  # steps and values by tag
_HEAD, _TAIL = 12, 4  # bytes around a record: its length and a checksum before it, a checksum behind it


def event_files(folder: Path) -> list[Path]:
    """The event files of a folder, the oldest first (their names start with the time)."""
    return sorted(path for path in folder.iterdir() if is_event_file(path))


def is_event_file(path: Path) -> bool:
    return ".tfevents." in path.name and path.is_file()


def read_event_files(paths: Sequence[Path], source: str, reward: str | None) -> Table:
    """The rewards of one run, whose files follow each other: of a repeated step the last value counts.

    Raises MissingExtraError without tensorboard, CurveError where a file is broken or there is no reward.
    """
    points: Points = {}
    for path in paths:
        _collect(path, points)
    if not points:
        raise CurveError(f"{source} holds no scalars of TensorBoard: give the event files of a run that logged there")
    name = reward_name(points, source, reward)
    steps, rewards = points.pop(name)
    columns: dict[str, Any] = {"step": steps, name: rewards}
    for tag, own in points.items():
        at = dict(zip(*own, strict=True))
        columns.setdefault(tag, [at.get(step) for step in steps])
    return table_of(columns, source, "step", name)


def _collect(path: Path, points: Points) -> None:
    try:
        from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.util.tensor_util import make_ndarray
    except ImportError as error:
        raise MissingExtraError("reading TensorBoard event files", "tensorboard") from error
    try:
        for event in map(Event.FromString, _records(path)):
            for value in event.summary.value:
                number = _scalar(value, make_ndarray)
                if number is not None:
                    steps, numbers = points.setdefault(value.tag, ([], []))
                    steps.append(event.step)
                    numbers.append(number)
    except DecodeError as error:
        raise CurveError(f"{path} is not an event file of TensorBoard; copy it again") from error


def _records(path: Path) -> Iterator[bytes]:
    """The complete records of a file; a torn last one is left out, as it is in a run that still writes.

    tensorboard's own reader checks every checksum in Python, which takes 20 s for 10^6 points.
    """
    data, at = path.read_bytes(), 0
    while at + _HEAD <= len(data):
        end = at + _HEAD + int.from_bytes(data[at : at + 8], "little")
        if end + _TAIL > len(data):
            return
        yield data[at + _HEAD : end]
        at = end + _TAIL


def _scalar(value: Any, make_ndarray: Callable[[Any], Any]) -> float | None:
    """The number of a summary value, None for a text, a picture or a histogram."""
    kind = value.WhichOneof("value")
    if kind == "simple_value":
        return float(value.simple_value)
    if kind != "tensor" or value.metadata.plugin_data.plugin_name not in ("", "scalars"):
        return None
    try:
        array = make_ndarray(value.tensor)
    except (TypeError, ValueError):
        return None
    return to_number(array.item()) if array.size == 1 else None
