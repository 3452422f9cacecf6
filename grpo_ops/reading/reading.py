"""read_curve(): the curve in a file or a folder, with notes on what was left out, sorted or repeated."""

from dataclasses import dataclass, replace
from pathlib import Path

from grpo_ops.curve import Evaluation, RewardCurve
from grpo_ops.errors import CurveError
from grpo_ops.reading.cleaning import Table, cleaned
from grpo_ops.reading.console import read_console
from grpo_ops.reading.event_files import event_files, is_event_file, read_event_files
from grpo_ops.reading.journals import read_run_journal
from grpo_ops.reading.jsonlines import is_journal, read_json_lines
from grpo_ops.reading.names import KINDS
from grpo_ops.reading.parquet import read_parquet
from grpo_ops.reading.tables import read_csv
from grpo_ops.reading.trainer_state import read_trainer_state

_READERS = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".parquet": read_parquet,
    ".json": read_trainer_state,
    ".jsonl": read_json_lines,
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A curve and where it is from. notes: what was dropped, sorted or repeated, one sentence each."""

    source: str
    curve: RewardCurve
    notes: tuple[str, ...] = ()
    evaluations: tuple[Evaluation, ...] = ()


def read_curve(
    path: str | Path, *, step: str | None = None, reward: str | None = None, max_steps: int | None = None
) -> Reading:
    """The curve in `path`: CSV (also as W&B exports it), Parquet, JSON lines, trainer_state.json, our journal,
    TensorBoard event files, TRL's console log (any other text), or a folder that holds a journal, a trainer state or
    event files.

    step, reward: names of the columns, where they are not recognised (a journal needs none); reward="eval_reward" reads
    evaluations. max_steps: the planned last step, where the file does not say it or says it wrong. Of a repeated step
    the last row counts in foreign files (a resumed run wrote it), the first in our own journal.
    Raises CurveError for a file that is not a curve, MissingExtraError for Parquet without pyarrow and event files
    without tensorboard.
    """
    try:
        curve, notes, evaluations = _read(_resolved(Path(path)), step, reward)
    except UnicodeDecodeError as error:
        raise CurveError(f"{path} is not text, so it is no curve: give {KINDS}") from error
    except OSError as error:
        raise CurveError(f"{path} cannot be read: {error.strerror or error}") from error
    return Reading(str(path), _planned(curve, max_steps), notes, evaluations)


def _read(
    file: Path, step: str | None, reward: str | None
) -> tuple[RewardCurve, tuple[str, ...], tuple[Evaluation, ...]]:
    if file.suffix.lower() == ".jsonl" and is_journal(file):
        return read_run_journal(file)
    curve, notes = cleaned(_table(file, step, reward), str(file))
    return curve, notes, ()


def _table(file: Path, step: str | None, reward: str | None) -> Table:
    if file.is_dir() or is_event_file(file):
        return read_event_files(event_files(file) if file.is_dir() else [file], str(file), reward)
    return _READERS.get(file.suffix.lower(), read_console)(file, step, reward)


def _resolved(path: Path) -> Path:
    """The file to read, or a folder of event files."""
    if "\0" in str(path) or not path.exists():
        raise CurveError(f"there is no file at {str(path)!r}: give {KINDS}")
    if not path.is_dir():
        return path
    for name in ("journal.jsonl", "trainer_state.json"):
        if (path / name).is_file():
            return path / name
    if event_files(path):
        return path
    raise CurveError(
        f"{path} is a folder without journal.jsonl, trainer_state.json or event files of TensorBoard: give a run folder"
    )


def _planned(curve: RewardCurve, max_steps: int | None) -> RewardCurve:
    if max_steps is not None and max_steps < curve.steps[-1]:
        raise CurveError(f"max_steps {max_steps} is before the curve's last step {curve.steps[-1]}")
    return curve if max_steps is None else replace(curve, max_steps=max_steps)
