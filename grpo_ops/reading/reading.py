"""read_curve(): the curve in a file or a folder, with notes on what was left out, sorted or repeated."""

from dataclasses import dataclass, replace
from pathlib import Path

from grpo_ops.curve import Evaluation, RewardCurve
from grpo_ops.errors import CurveError
from grpo_ops.reading.cleaning import Table, cleaned
from grpo_ops.reading.journals import read_run_journal
from grpo_ops.reading.tables import read_csv, read_parquet
from grpo_ops.reading.trainer_state import read_trainer_state

_KINDS = "a CSV, a Parquet file, a trainer_state.json, a journal.jsonl or a run folder"


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
    """The curve in `path`: CSV, Parquet, trainer_state.json, journal, or a folder that holds one of the last two.

    step, reward: names of the columns, where they are not recognised (a journal needs none). max_steps: the planned
    last step, where the file does not say it or says it wrong. Of a repeated step the last row counts in foreign files
    (a resumed run wrote it), the first in our own journal.
    Raises CurveError for a file that is not a curve, MissingExtraError for Parquet without pyarrow.
    """
    file = _resolved(Path(path))
    if file.suffix == ".jsonl":
        curve, notes, evaluations = read_run_journal(file)
        return Reading(str(path), _planned(curve, max_steps), notes, evaluations)
    curve, notes = cleaned(_table(file, step, reward), str(file))
    return Reading(str(path), _planned(curve, max_steps), notes)


def _table(file: Path, step: str | None, reward: str | None) -> Table:
    readers = {".csv": read_csv, ".tsv": read_csv, ".parquet": read_parquet, ".json": read_trainer_state}
    if file.suffix.lower() not in readers:
        raise CurveError(f"{file} is not a curve: give {_KINDS}")
    try:
        return readers[file.suffix.lower()](file, step, reward)
    except UnicodeDecodeError as error:
        raise CurveError(f"{file} is not text, so it is no curve: give {_KINDS}") from error
    except OSError as error:
        raise CurveError(f"{file} cannot be read: {error.strerror or error}") from error


def _resolved(path: Path) -> Path:
    if path.is_dir():
        for name in ("journal.jsonl", "trainer_state.json"):
            if (path / name).is_file():
                return path / name
        raise CurveError(f"{path} is a folder without journal.jsonl or trainer_state.json: give a run folder")
    if not path.is_file():
        raise CurveError(f"there is no file at {path}: give {_KINDS}")
    return path


def _planned(curve: RewardCurve, max_steps: int | None) -> RewardCurve:
    if max_steps is not None and max_steps < curve.steps[-1]:
        raise CurveError(f"max_steps {max_steps} is before the curve's last step {curve.steps[-1]}")
    return curve if max_steps is None else replace(curve, max_steps=max_steps)
