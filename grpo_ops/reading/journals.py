"""Curves from our own journal: a step's first value counts."""

from collections.abc import Sequence
from pathlib import Path

from grpo_ops.curve import Evaluation, RewardCurve
from grpo_ops.errors import CurveError
from grpo_ops.journal import Entry, JournalReader, journal_curve, journal_evaluations
from grpo_ops.reading.cleaning import gap_notes


def read_run_journal(path: Path) -> tuple[RewardCurve, tuple[str, ...], tuple[Evaluation, ...]]:
    """Training curve, notes and evaluations of a run. Raises CurveError where the journal holds no reward."""
    reader = JournalReader(path)
    entries = list(reader.poll())
    try:
        curve, evaluations = journal_curve(entries), tuple(journal_evaluations(entries))
    except KeyError as error:
        raise CurveError(f"{path} is not a journal of grpo-ops (a line lacks {error})") from error
    except (TypeError, AttributeError, ValueError) as error:
        raise CurveError(f"{path} is not a journal of grpo-ops (a line holds a wrong value: {error})") from error
    if not len(curve):
        raise CurveError(f"{path} holds no step with a reward: has the run begun?")
    return curve, (*_notes(entries, curve, reader.broken), *gap_notes(curve)), evaluations


def _notes(entries: Sequence[Entry], curve: RewardCurve, broken: int) -> list[str]:
    steps = [entry for entry in entries if entry["kind"] == "step"]
    lost = sum("reward" in entry.get("nonfinite", {}) for entry in steps)
    repeated = sum("reward" in entry["metrics"] for entry in steps) - len(curve)
    notes = [f"{broken} broken lines left out"] if broken else []
    notes += [f"{lost} steps without a finite reward left out"] if lost else []
    return notes + ([f"{repeated} repeated steps: the first value counts"] if repeated else [])
