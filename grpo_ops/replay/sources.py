"""What a backtest runs on: sweep files, folders and single curves, read into one shape."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grpo_ops.curve import RewardCurve
from grpo_ops.errors import CurveError
from grpo_ops.law.hyperparameters import Params
from grpo_ops.reading import read_curve

_CURVES = (".csv", ".tsv", ".parquet", ".jsonl")
_NO_CURVE = ".evals.csv"


@dataclass(frozen=True)
class Source:
    """Finished runs. is_sweep: they are trials of one study, so that each has siblings; else it is a single curve.

    params: each run's hyperparameters. notes: what the readers said. Where less is better, rewards are negative.
    """

    name: str
    curves: tuple[RewardCurve, ...]
    params: tuple[Params, ...]
    is_sweep: bool
    notes: tuple[str, ...] = ()


def load_sources(paths: Sequence[str | Path]) -> list[Source]:
    """The sources in `paths`: a sweep file, a curve, or a folder of both, each taken once.

    A sweep file is JSON: `{"name", "trials": [{"trial", "curve", "params"}, ...]}`, paths relative to it. In a folder
    each sweep file is one source and every curve that none of them names is another one.
    Raises CurveError for a path that is none of these, and for a sweep file or a curve that cannot be read.
    """
    sources = [source for path in paths for source in _sources(Path(path))]
    if not sources:
        raise CurveError(f"there is no curve and no sweep file in {', '.join(map(str, paths)) or 'no path at all'}")
    return sources


def _sources(path: Path) -> list[Source]:
    if path.is_dir() and not any((path / name).is_file() for name in ("journal.jsonl", "trainer_state.json")):
        return _folder(path)
    document = _document(path)
    return [_single(path) if document is None else _sweep(path, document)]


def _folder(path: Path) -> list[Source]:
    documents = {file: _document(file) for file in sorted(path.rglob("*.json"))}
    sweeps = {file: document for file, document in documents.items() if document is not None}
    named = {_curve_file(file, trial) for file, document in sweeps.items() for trial in document["trials"]}
    files = (file for file in sorted(path.rglob("*")) if file.suffix in _CURVES and not file.name.endswith(_NO_CURVE))
    singles = [_single(file) for file in files if file.resolve() not in named]
    return [_sweep(file, document) for file, document in sweeps.items()] + singles


def _document(path: Path) -> Mapping[str, Any] | None:
    """The content of a sweep file, None for anything else."""
    if path.suffix != ".json" or not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CurveError(f"{path} is not JSON ({error})") from error
    is_sweep = isinstance(content, dict) and isinstance(content.get("trials"), list)
    return content if is_sweep else None


def _sweep(path: Path, document: Mapping[str, Any]) -> Source:
    trials = document["trials"]
    for number, trial in enumerate(trials):
        if not isinstance(trial, dict) or not isinstance(trial.get("curve"), str):
            raise CurveError(f"{path}: trial {number} names no curve; each needs a path under 'curve'")
    readings = [read_curve(_curve_file(path, trial)) for trial in trials]
    sign = -1.0 if document.get("direction") == "minimize" else 1.0
    return Source(
        str(document.get("name") or path.stem),
        tuple(reading.curve if sign > 0 else _negative(reading.curve) for reading in readings),
        tuple(trial.get("params") or {} for trial in trials),
        True,
        tuple(note for reading in readings for note in reading.notes),
    )


def _negative(curve: RewardCurve) -> RewardCurve:
    return replace(curve, rewards=tuple(-reward for reward in curve.rewards))


def _single(path: Path) -> Source:
    reading = read_curve(path)
    return Source(path.stem if path.is_file() else path.name, (reading.curve,), ({},), False, reading.notes)


def _curve_file(sweep: Path, trial: Mapping[str, Any]) -> Path:
    return (sweep.parent / str(trial.get("curve"))).resolve()
