"""What the journal says of earlier attempts: what is done, what is saved, which was best."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grpo_ops.journal import Entry, RunFolder
from grpo_ops.weights import weights_hash


@dataclass(frozen=True, slots=True)
class Saved:
    """A complete checkpoint. `path` is relative to the run folder; `mean` is the evaluation of a best one."""

    step: int
    path: str
    sha256: str
    mean: float | None = None

    @property
    def score(self) -> float:
        """What best checkpoints are compared by; one without an evaluation loses against all."""
        return float("-inf") if self.mean is None else self.mean

    def record(self) -> dict[str, Any]:
        """As result.json has it."""
        fields = {"step": self.step, "path": self.path, "sha256": self.sha256}
        return fields if self.mean is None else {**fields, "mean": self.mean}


@dataclass(frozen=True, slots=True)
class History:
    """What earlier attempts left.

    resume: the newest checkpoint that is whole. best: the best weights so far. evaluated: steps of regular
    evaluations. asked: ids of answered requests. damaged: checkpoints that are in the journal but not whole.
    """

    resume: Saved | None = None
    best: Saved | None = None
    evaluated: frozenset[int] = frozenset()
    asked: frozenset[str] = frozenset()
    damaged: tuple[str, ...] = ()

    @property
    def step(self) -> int:
        """The step that the run goes on from."""
        return self.resume.step if self.resume else 0


def read_history(folder: RunFolder) -> History:
    """The history of a run; empty where it has none."""
    entries = folder.entries()
    evaluations = [entry for entry in entries if entry["kind"] == "evaluation"]
    regular = {entry["step"]: entry["mean"] for entry in reversed(evaluations) if entry.get("ask") is None}
    candidates = _saved(entries, "resume", {})
    whole = [saved for saved in candidates if _is_whole(folder, saved)]
    best = [saved for saved in _saved(entries, "best", regular) if _is_whole(folder, saved)]
    return History(
        resume=max(whole, key=lambda saved: saved.step, default=None),
        best=max(best, key=lambda saved: saved.score, default=None),
        evaluated=frozenset(regular),
        asked=frozenset(str(entry["ask"]) for entry in evaluations if entry.get("ask") is not None),
        damaged=tuple(saved.path for saved in candidates if saved not in whole and (folder.path / saved.path).exists()),
    )


def _saved(entries: Sequence[Entry], role: str, means: dict[int, float]) -> list[Saved]:
    """Checkpoints of one role; a later attempt's replaces an earlier one at the same path."""
    found: dict[str, Saved] = {}
    for entry in entries:
        if entry["kind"] == "checkpoint" and entry["role"] == role:
            mean = means.get(entry["step"])
            found[entry["path"]] = Saved(entry["step"], entry["path"], entry["sha256"], mean)
    return list(found.values())


def _is_whole(folder: RunFolder, saved: Saved) -> bool:
    place: Path = folder.path / saved.path
    return weights_hash(place) == saved.sha256
