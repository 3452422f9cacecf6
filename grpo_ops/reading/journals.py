"""Curves from our own journal: a step's first value counts."""

from collections.abc import Sequence
from pathlib import Path

from grpo_ops.curve import Evaluation, RewardCurve
from grpo_ops.errors import CurveError
from grpo_ops.journal import Entry, JournalReader, journal_curve, journal_evaluations
from grpo_ops.reading.notes import counted, curve_notes


def read_run_journal(path: Path) -> tuple[RewardCurve, tuple[str, ...], tuple[Evaluation, ...]]:
    """Training curve, notes and evaluations of a run. Raises CurveError where the journal holds no reward."""
    reader = JournalReader(path)
    try:
        entries = list(reader.poll())
        curve, evaluations = journal_curve(entries), tuple(journal_evaluations(entries))
        _check(curve, evaluations)
        notes = _notes(entries, curve, reader.broken) + curve_notes(curve, _logged(entries))
    except KeyError as error:
        raise CurveError(f"{path} is not a journal of grpo-ops (a line lacks {error})") from error
    except (TypeError, AttributeError, ValueError, OverflowError, RecursionError) as error:
        raise CurveError(f"{path} is not a journal of grpo-ops (a line holds a wrong value: {error})") from error
    if not len(curve):
        raise CurveError(f"{path} holds no step with a reward: has the run begun?")
    return curve, tuple(notes), evaluations


def _check(curve: RewardCurve, evaluations: Sequence[Evaluation]) -> None:
    """JSON can hold anything: raises TypeError where a value is not of the type that the journal promises."""
    planned = () if curve.max_steps is None else (curve.max_steps,)
    _check_types((*curve.steps, *planned, *(evaluation.step for evaluation in evaluations)), {int})
    for column in (curve.rewards, *curve.metrics.values(), *(evaluation.scored for evaluation in evaluations)):
        _check_types(column, {int, float})


def _check_types(values: Sequence[object], allowed: set[type]) -> None:
    if not set(map(type, values)) <= allowed:
        wrong = next(value for value in values if type(value) not in allowed)
        raise TypeError(f"{wrong!r} is not the number that belongs there")


def _logged(entries: Sequence[Entry]) -> list[int]:
    return sorted({entry["step"] for entry in entries if entry["kind"] == "step"})


def _notes(entries: Sequence[Entry], curve: RewardCurve, broken: int) -> list[str]:
    steps = [entry for entry in entries if entry["kind"] == "step"]
    lost = sum("reward" in entry.get("nonfinite", {}) for entry in steps)
    repeated = sum("reward" in entry["metrics"] for entry in steps) - len(curve)
    notes = [f"{counted(broken, 'broken line')} left out"] if broken else []
    notes += [f"{counted(lost, 'step')} without a finite reward left out"] if lost else []
    return notes + ([f"{counted(repeated, 'repeated step')}: the first value counts"] if repeated else [])
