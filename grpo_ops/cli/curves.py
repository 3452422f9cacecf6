"""What a CURVE on the command line names: a file, a run folder, an MLflow run, or a folder or sweep of many."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grpo_ops.cli.failures import needs
from grpo_ops.curve import RewardCurve, evaluation_curve
from grpo_ops.errors import CurveError, TrackingError
from grpo_ops.home import Home, make_quiet

if TYPE_CHECKING:
    from grpo_ops.replay import Source

_FILES = (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".txt", ".log")
_RUN_FILES = ("journal.jsonl", "trainer_state.json")


@dataclass(frozen=True)
class Named:
    """A curve, its name, and what its place says of it.

    notes: one sentence each. params: its hyperparameters. evaluations: held-out scores. is_negative: less reward is
    better in its sweep, so that the curve is read with its sign turned.
    """

    name: str
    curve: RewardCurve
    notes: tuple[str, ...] = ()
    params: Mapping[str, Any] | None = None
    evaluations: RewardCurve | None = None
    is_negative: bool = False


def curves_of(source: str, reward: str | None = None, step: str | None = None) -> list[Named]:
    """All the curves that `source` names; never none. Raises a GrpoOpsError that is one sentence.

    reward, step: columns of a single file, where they are not recognised.
    """
    return _collected(Path(source)) if is_collection(source) else [curve_of(source, reward, step)]


def is_collection(source: str) -> bool:
    """Whether `source` is a folder of curves or a sweep file, as against one curve."""
    path = Path(source)
    if not source.strip() or not path.exists():
        return False
    return not _is_run_folder(path) if path.is_dir() else _sweep_document(path) is not None


def curve_of(source: str, reward: str | None = None, step: str | None = None) -> Named:
    """The one curve that `source` names."""
    if not source.strip():
        raise CurveError("CURVE is empty: name a file, a run folder, an MLflow run id or a run key")
    if Path(source).exists():
        return _read(Path(source), reward, step)
    if "/" in source or source.lower().endswith(_FILES):
        raise CurveError(f"there is no file {source}")
    return _tracked(source)


def _read(path: Path, reward: str | None, step: str | None) -> Named:
    from grpo_ops.reading import read_curve

    reading = read_curve(path, reward=reward, step=step)
    evaluations = evaluation_curve(reading.evaluations, reading.curve.max_steps)
    return Named(path.name or str(path), reading.curve, reading.notes, None, evaluations if len(evaluations) else None)


def _tracked(run: str) -> Named:
    home = Home.here()
    if not home.has_tracking:
        raise CurveError(f"there is no file {run}, and no run of that name: nothing is tracked in {home.root} yet")
    needs("track", "mlflow")
    make_quiet()
    from grpo_ops.tracking import curve_of_run

    found = curve_of_run(run, home.tracking_uri)
    return Named(found.name, found.curve, found.notes, None, _tracked_evaluations(found.run_id, home.tracking_uri))


def _tracked_evaluations(run_id: str, uri: str) -> RewardCurve | None:
    """Few runs lack them, and the client says which only by refusing."""
    from grpo_ops.tracking import curve_of_run

    with suppress(TrackingError):
        return curve_of_run(run_id, uri, metric="eval_reward").curve
    return None


def _is_run_folder(path: Path) -> bool:
    from grpo_ops.reading.event_files import event_files

    return any((path / name).is_file() for name in _RUN_FILES) or bool(event_files(path))


def _collected(path: Path) -> list[Named]:
    from grpo_ops.replay import load_sources

    return [named for source in load_sources([path]) for named in _of_source(source)]


def _of_source(source: "Source") -> Iterator[Named]:
    """The runs of a source; those of a sweep under the sweep's name."""
    notes = source.notes
    if source.is_sweep:
        notes = tuple(f"{source.name}: {note}" for note in source.notes)
    if source.is_negative:
        notes += (f"{source.name}: less reward is better there, so rewards are shown with their sign turned",)
    for name, curve, params, held_out in zip(
        source.names, source.curves, source.params, source.evaluations, strict=True
    ):
        called = f"{source.name}/{name}" if source.is_sweep else name
        yield Named(called, curve, notes, params or None, held_out, source.is_negative)


def _sweep_document(path: Path) -> Mapping[str, Any] | None:
    """The content of a sweep file; None for anything else, which its reader will judge."""
    if path.suffix != ".json" or not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError):
        return None
    return content if isinstance(content, dict) and isinstance(content.get("trials"), list) else None
