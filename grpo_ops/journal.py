"""The folder and the append-only file between the trainer and everyone else. Standard library only.

One JSON object a line, flushed and fsynced. Every line has `kind`, `time` (seconds since the epoch) and `attempt`:

- `start`       the trainer is up: `pid`, `max_steps`, `resumed_from` (step or null), `versions`
- `step`        one optimiser step: `step`, `metrics` (TRL's names, finite), `nonfinite` (name to "nan", "inf", "-inf")
- `evaluation`  held-out prompts: `step`, `mean`, `digest`, `prompt_ids`, `outcomes`, `seconds`, `ask` (id or null)
- `checkpoint`  saved and complete: `step`, `path` (relative to the run folder), `sha256` (of its weights), `role`
                (`resume`: can be continued from; `best`: weights alone, best evaluation so far)
- `diagnosis`   what is wrong with the run, once when it comes up and once more when it gets worse: `step`, and a
                Finding as JSON (`symptom`, `severity`, `since_step`, `evidence`, `cost`, `advice`)
- `warning`     `message`
- `end`         `reason` (finished, stopped, failed), `message`
"""

import json
import math
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from grpo_ops.curve import Evaluation, Observation, RewardCurve
from grpo_ops.errors import JournalError

Entry = Mapping[str, Any]


def write_atomically(path: Path, text: str) -> None:
    """Replace `path` by `text`: a reader sees the old file or the new one, never a part. Raises OSError."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with scratch.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)
    except OSError:  # a full disk: leave nothing that fills it further
        scratch.unlink(missing_ok=True)
        raise


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The one folder that a trainer knows."""

    path: Path

    @property
    def key(self) -> str:
        return self.path.name

    @property
    def spec(self) -> Path:
        return self.path / "spec.json"

    @property
    def journal(self) -> Path:
        return self.path / "journal.jsonl"

    @property
    def stop(self) -> Path:
        return self.path / "stop"

    @property
    def ask(self) -> Path:
        return self.path / "ask.json"

    @property
    def result(self) -> Path:
        return self.path / "result.json"

    @property
    def log(self) -> Path:
        return self.path / "trainer.log"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    def entries(self) -> "list[Entry]":
        """All complete lines of the journal, [] where nothing has been written yet."""
        return list(JournalReader(self.journal).poll())

    def request_stop(self, reason: str, message: str) -> None:
        """Ask the trainer to stop at its next step. The first reason wins; later ones change nothing."""
        if not self.stop.exists():
            write_atomically(self.stop, json.dumps({"reason": reason, "message": message}))

    def stop_request(self) -> dict[str, str] | None:
        """`{"reason", "message"}` where a stop was asked for, else None."""
        request: dict[str, str] | None = self.read_json(self.stop)
        return request

    def read_json(self, path: Path) -> Any:
        """The content of one of this folder's JSON files, None where it is missing. Raises JournalError if broken."""
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise JournalError(f"{path} is not JSON ({error}); delete it or restore it") from error


class Journal:
    """Appends lines to a run's journal: the trainer's rank 0 is its only writer."""

    def __init__(self, path: Path, attempt: int) -> None:
        self.path = path
        self.attempt = attempt
        torn = path.exists() and not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        if torn:  # what a killed writer left: end its line, so that ours starts a new one
            os.write(self._descriptor, b"\n")

    def append(self, kind: str, **fields: Any) -> None:
        """Append one line and fsync it. Raises OSError on a full disk: a run that cannot speak must not go on."""
        line = {"kind": kind, "time": time.time(), "attempt": self.attempt, **fields}
        _write_all(self._descriptor, json.dumps(line, allow_nan=False).encode() + b"\n")
        os.fsync(self._descriptor)

    def step(self, step: int, metrics: Mapping[str, float]) -> None:
        """Append one optimiser step; numbers that JSON cannot carry go to `nonfinite`."""
        finite = {name: value for name, value in metrics.items() if math.isfinite(value)}
        rest = {name: str(float(value)) for name, value in metrics.items() if not math.isfinite(value)}
        self.append("step", step=step, metrics=finite, nonfinite=rest)

    def close(self) -> None:
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(slots=True)
class JournalReader:
    """Reads a growing journal: each `poll` yields the lines that were completed since the last one.

    A torn last line is left for the next poll; a broken line with others behind it is counted in `broken` and skipped.
    """

    path: Path
    offset: int = 0
    broken: int = 0
    _tail: bytes = field(default=b"", repr=False)

    def poll(self) -> Iterator[Entry]:
        try:
            with self.path.open("rb") as file:
                file.seek(self.offset)
                data = file.read()
        except FileNotFoundError:
            return
        self.offset += len(data)
        *lines, self._tail = (self._tail + data).split(b"\n")
        for line in lines:
            entry = _parse(line)
            if entry is None:
                self.broken += bool(line.strip())
            else:
                yield entry


def read_journal(path: Path) -> list[Entry]:
    """All complete lines of a journal; raises JournalError where there is no file."""
    if not path.is_file():
        raise JournalError(f"there is no journal at {path}")
    return list(JournalReader(path).poll())


def journal_curve(entries: list[Entry], max_steps: int | None = None) -> RewardCurve:
    """Training reward by step; a step's first value counts (a resumed trainer repeats steps)."""
    rows: dict[int, Observation] = {}
    for entry in entries:
        if entry["kind"] == "start":
            max_steps = max_steps or entry.get("max_steps")
        reward = entry["metrics"].get("reward") if entry["kind"] == "step" else None
        if reward is not None:
            others = {name: value for name, value in entry["metrics"].items() if name != "reward"}
            rows.setdefault(entry["step"], Observation(entry["step"], reward, others))
    return RewardCurve.of((rows[step] for step in sorted(rows)), max_steps)


def journal_evaluations(entries: list[Entry]) -> list[Evaluation]:
    """The regular evaluations by step (asked-for extra ones are left out); a step's first one counts."""
    rows: dict[int, Evaluation] = {}
    for entry in entries:
        if entry["kind"] == "evaluation" and entry.get("ask") is None:
            rows.setdefault(entry["step"], entry_evaluation(entry))
    return [rows[step] for step in sorted(rows)]


def entry_evaluation(entry: Entry) -> Evaluation:
    """The Evaluation that a journal line of kind `evaluation` carries."""
    return Evaluation(entry["step"], tuple(entry["outcomes"]), tuple(entry["prompt_ids"]), entry["digest"])


def _parse(line: bytes) -> Entry | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) and "kind" in entry else None


def _write_all(descriptor: int, data: bytes) -> None:
    """os.write may take only a part (a disk that fills up): the next call then raises ENOSPC, which is what we want."""
    while data:
        data = data[os.write(descriptor, data) :]
