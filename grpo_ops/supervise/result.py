"""How a run ended: the ending, its reason in words, and all else that leaves a run."""

import re
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

from grpo_ops.curve import Evaluation, RewardCurve
from grpo_ops.ending import Ending, said_ending
from grpo_ops.journal import Entry, RunFolder, journal_curve, journal_evaluations
from grpo_ops.law import LawFit, exponential, fit
from grpo_ops.law.diagnostics import Finding, journal_diagnoses

_LOG_TAIL_BYTES = 20_000
_FULL_BYTES = 256 * 1024
_OUT_OF_MEMORY = re.compile(r"out of memory|can't allocate memory|MemoryError", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Saved weights. `path` is relative to the run folder; `mean` is the evaluation of a best checkpoint."""

    step: int
    path: str
    sha256: str
    mean: float | None = None


@dataclass(frozen=True, slots=True)
class RunResult:
    """All that leaves a run.

    seconds: wall time of all attempts that wrote a journal line, up to their last one.
    fit: the exponential law on training reward, good or not. diagnoses: what was wrong, in the order it came up.
    """

    key: str
    ending: Ending
    reason: str
    attempt: int
    step: int
    max_steps: int
    seconds: float
    curve: RewardCurve
    evaluations: tuple[Evaluation, ...]
    fit: LawFit
    best: Checkpoint | None
    last: Checkpoint | None
    diagnoses: tuple[Finding, ...] = ()

    @property
    def best_evaluation(self) -> Evaluation | None:
        """The evaluation with the highest mean (of equals, the earliest)."""
        return max(self.evaluations, key=lambda evaluation: evaluation.mean, default=None)


def conclude(folder: RunFolder, returncode: int | None, *, failure: str | None = None, log_from: int = 0) -> RunResult:
    """The result of a run whose trainer is gone, read from its folder.

    returncode: exit code, negative for a signal, None where nobody saw it end. failure: what the supervisor knows
    better (it killed a trainer that made no progress). log_from: where in `trainer.log` this attempt begins, in bytes.
    """
    entries = folder.entries()
    document = folder.read_json(folder.spec) or {}
    ending, reason = _ending(folder, returncode, failure, log_from)
    if ending is Ending.FAILED and _is_full(folder.path):
        reason = f"the disk is full ({folder.path}): {reason}"
    max_steps = document.get("spec", {}).get("grpo", {}).get("max_steps", 0)
    curve = journal_curve(entries, max_steps)
    return RunResult(
        key=folder.key,
        ending=ending,
        reason=reason,
        attempt=document.get("attempt", 0),
        step=max((entry["step"] for entry in entries if entry["kind"] == "step"), default=0),
        max_steps=max_steps,
        seconds=_seconds(entries),
        curve=curve,
        evaluations=tuple(journal_evaluations(entries)),
        fit=fit(curve, exponential),
        best=_checkpoint(folder, entries, "best"),
        last=_checkpoint(folder, entries, "resume"),
        diagnoses=journal_diagnoses(entries),
    )


def _ending(folder: RunFolder, returncode: int | None, failure: str | None, log_from: int) -> tuple[Ending, str]:
    if failure is not None:
        return Ending.FAILED, failure
    said = said_ending(folder)
    if said is None and returncode is not None and returncode < 0:
        return Ending.FAILED, _killed_by(-returncode)
    ending, reason = said or (Ending.FAILED, why_gone(folder.log, log_from, returncode))
    return ending, _memory_first(reason) if ending is Ending.FAILED else reason


def _killed_by(number: int) -> str:
    hint = " (out of memory, or somebody's kill -9)" if number == signal.SIGKILL else ""
    return f"killed by {signal.Signals(number).name}{hint}"


def why_gone(log: Path, log_from: int, returncode: int | None) -> str:
    """The exit code and the last line that a process said in its log from `log_from` on."""
    if returncode is None:
        return "its trainer is gone without a result"
    said = log.read_bytes()[log_from:] if log.exists() else b""
    last = said[-_LOG_TAIL_BYTES:].decode(errors="replace").strip().rsplit("\n", 1)[-1].strip()[:300]
    return f"exit code {returncode}: {last or 'it said nothing'}"


def _is_full(path: Path) -> bool:
    return path.exists() and shutil.disk_usage(path).free < _FULL_BYTES


def _memory_first(message: str) -> str:
    return f"out of memory: {message}" if _OUT_OF_MEMORY.search(message) else message


def _seconds(entries: list[Entry]) -> float:
    spans: dict[int, list[float]] = {}
    for entry in entries:
        spans.setdefault(entry["attempt"], []).append(entry["time"])
    return sum(max(times) - min(times) for times in spans.values())


def _checkpoint(folder: RunFolder, entries: list[Entry], role: str) -> Checkpoint | None:
    """The newest checkpoint of this role that is still on the disk."""
    means = {entry["step"]: entry["mean"] for entry in reversed(entries) if entry["kind"] == "evaluation"}
    for entry in reversed(entries):
        if entry["kind"] == "checkpoint" and entry["role"] == role and (folder.path / entry["path"]).is_dir():
            mean = means.get(entry["step"]) if role == "best" else None
            return Checkpoint(entry["step"], entry["path"], entry["sha256"], mean)
    return None
