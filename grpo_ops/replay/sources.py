"""What a backtest runs on: sweep files, folders and single curves, read into one shape."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grpo_ops.curve import Evaluation, RewardCurve, evaluation_curve
from grpo_ops.errors import CurveError
from grpo_ops.law.hyperparameters import Params
from grpo_ops.reading import Reading, read_curve
from grpo_ops.replay.outcomes import read_outcomes

_CURVES = (".csv", ".tsv", ".parquet", ".jsonl")
_NO_CURVE = ".evals.csv"
_RUN_FILES = ("journal.jsonl", "trainer_state.json")


@dataclass(frozen=True)
class Source:
    """Finished runs. is_sweep: they are trials of one study, so that each has siblings; else it is a single curve.

    params: each run's hyperparameters; names: what each is called; evaluations: its held-out scores, where there are
    any. notes: what the readers said. is_negative: less reward is better, and all rewards have their sign turned.
    outcomes: the evaluations prompt by prompt (in their own sign), empty for a run that has none. endings: how each
    trial of a sweep ended, None where the file does not say it.
    """

    name: str
    curves: tuple[RewardCurve, ...]
    params: tuple[Params, ...]
    is_sweep: bool
    names: tuple[str, ...] = ()
    evaluations: tuple[RewardCurve | None, ...] = ()
    notes: tuple[str, ...] = ()
    is_negative: bool = False
    outcomes: tuple[tuple[Evaluation, ...], ...] = ()
    endings: tuple[str | None, ...] = ()


def load_sources(paths: Sequence[str | Path]) -> list[Source]:
    """The sources in `paths`: a sweep file, a curve, or a folder of both, each taken once.

    A sweep file is JSON: `{"name", "trials": [{"trial", "curve", "params"}, ...]}`, paths relative to it; a trial may
    also have `evals`, a table of its evaluations, `max_steps`, its planned last step, and `ending`. In a folder each
    sweep file is one source and every curve that none of them names is another one.
    Raises CurveError for a path that is none of these, and for a sweep file or a curve that cannot be read.
    """
    places = {Path(path).resolve(): Path(path) for path in paths}
    sources = [source for path in places.values() for source in _sources(path)]
    if not sources:
        raise CurveError(f"there is no curve and no sweep file in {', '.join(map(str, paths)) or 'no path at all'}")
    return sources


def _sources(path: Path) -> list[Source]:
    if path.is_dir() and not any((path / name).is_file() for name in _RUN_FILES):
        return _folder(path)
    document = _document(path)
    return [_single(path) if document is None else _sweep(path, document)]


def _folder(path: Path) -> list[Source]:
    documents = {file: _document(file) for file in sorted(path.rglob("*.json"))}
    sweeps = {file: document for file, document in documents.items() if document is not None}
    named = {_file(file, trial["curve"]) for file, document in sweeps.items() for trial in document["trials"]}
    files = (file for file in sorted(path.rglob("*")) if file.suffix in _CURVES and not file.name.endswith(_NO_CURVE))
    singles = [_single(file) for file in files if file.resolve() not in named]
    return [_sweep(file, document) for file, document in sweeps.items()] + singles


def _document(path: Path) -> Mapping[str, Any] | None:
    """The content of a sweep file, None for anything else."""
    if path.suffix != ".json" or not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise CurveError(f"{path} is not JSON ({error})") from error
    except OSError as error:
        raise CurveError(f"{path} cannot be read: {error.strerror or error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("trials"), list):
        return None
    _check(path, content["trials"])
    if content.get("direction", "maximize") not in ("maximize", "minimize"):
        raise CurveError(f"{path}: direction must be 'maximize' or 'minimize' but is {content['direction']!r}")
    return content


def _check(path: Path, trials: Sequence[Any]) -> None:
    if not trials:
        raise CurveError(f"{path} is a sweep without trials")
    for number, trial in enumerate(trials):
        if not isinstance(trial, dict) or not isinstance(trial.get("curve"), str):
            raise CurveError(f"{path}: trial {number} names no curve; each needs a path under 'curve'")
        if not isinstance(trial.get("max_steps"), int | None):
            raise CurveError(
                f"{path}: max_steps of trial {number} must be a whole number but is {trial['max_steps']!r}"
            )
        for name in ("evals", "ending"):
            if not isinstance(trial.get(name), str | None):
                raise CurveError(f"{path}: {name} of trial {number} must be text but is {trial[name]!r}")
        if not isinstance(trial.get("params") or {}, dict):
            raise CurveError(f"{path}: the params of trial {number} are no table of names and values")


def _sweep(path: Path, document: Mapping[str, Any]) -> Source:
    trials = document["trials"]
    readings = [_read(path, trial, trial["curve"]) for trial in trials]
    evaluations = [_evaluations(path, trial) for trial in trials]
    less = document.get("direction") == "minimize"
    name = str(document.get("name") or path.stem)
    return Source(
        name,
        tuple(_negative(reading.curve) if less else reading.curve for reading in readings),
        tuple(trial.get("params") or {} for trial in trials),
        True,
        tuple(str(trial.get("trial", number)) for number, trial in enumerate(trials)),
        tuple(_negative(curve) if less and curve else curve for curve in evaluations),
        tuple(dict.fromkeys(note for reading in readings for note in reading.notes)),
        less,
        tuple(_outcomes(path, trial, name) for trial in trials),
        tuple(trial.get("ending") for trial in trials),
    )


def _evaluations(path: Path, trial: Mapping[str, Any]) -> RewardCurve | None:
    """A trial's held-out scores: a table with the columns `step` and `mean`."""
    named = trial.get("evals")
    if not isinstance(named, str):
        return None
    return _read(path, trial, named, "mean").curve


def _read(path: Path, trial: Mapping[str, Any], named: str, reward: str | None = None) -> Reading:
    """A trial's table; what is wrong with it is said with its name."""
    file = _file(path, named)
    try:
        return read_curve(file, reward=reward, max_steps=trial.get("max_steps"))
    except CurveError as error:
        raise error if str(file) in str(error) else CurveError(f"{file}: {error}") from error


def _outcomes(path: Path, trial: Mapping[str, Any], sweep: str) -> tuple[Evaluation, ...]:
    named = trial.get("evals")
    return read_outcomes(_file(path, named), sweep) if isinstance(named, str) else ()


def _negative(curve: RewardCurve) -> RewardCurve:
    return replace(curve, rewards=tuple(-reward for reward in curve.rewards))


def _single(path: Path) -> Source:
    reading = read_curve(path)
    name = path.parent.name if path.name in _RUN_FILES else path.stem if path.is_file() else path.name
    held_out = evaluation_curve(reading.evaluations, reading.curve.max_steps)
    evaluations = (held_out if len(held_out) else None,)
    outcomes = (reading.evaluations,)
    return Source(name, (reading.curve,), ({},), False, (name,), evaluations, reading.notes, outcomes=outcomes)


def _file(sweep: Path, named: str) -> Path:
    if "\0" in named:
        raise CurveError(f"{sweep}: there is no file at {named!r}")
    return (sweep.parent / named).resolve()
