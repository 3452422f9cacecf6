"""One loop over the journals of all live runs, from the main thread: no threads, no callbacks from elsewhere."""

import signal
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from grpo_ops.journal import Entry, JournalReader, RunFolder
from grpo_ops.supervise.launch import Launcher, Trainer
from grpo_ops.supervise.result import RunResult, conclude


@dataclass(eq=False)
class LiveRun:
    """A run whose trainer has been started by us."""

    folder: RunFolder
    trainer: Trainer
    reader: JournalReader
    no_progress_seconds: float
    log_from: int = 0
    progressed: float = field(default_factory=time.monotonic)
    failure: str | None = None

    def poll(self) -> list[Entry]:
        """Lines that were completed since the last call; notes the progress for the watchdog."""
        entries = list(self.reader.poll())
        if entries or self.trainer.is_starting:
            self.progressed = time.monotonic()
        return entries

    @property
    def is_stuck(self) -> bool:
        return time.monotonic() - self.progressed > self.no_progress_seconds


@dataclass(frozen=True)
class Lines:
    """New complete journal lines of a run, in order."""

    run: LiveRun
    entries: list[Entry]


@dataclass(frozen=True)
class Ended:
    """A run is over; all of its lines have been delivered."""

    run: LiveRun
    result: RunResult


@dataclass(frozen=True)
class Tick:
    """One round over all runs is done: the time for heartbeats and for starting others."""


#: So long trainers may take to save and end after Ctrl-C.
WIND_DOWN_SECONDS = 20.0

Event: TypeAlias = Lines | Ended | Tick


@dataclass
class Fleet:
    """The live runs of one supervisor. Runs may be started while `follow` goes round."""

    launcher: Launcher
    runs: list[LiveRun] = field(default_factory=list)
    interrupted: signal.Signals | None = None

    def start(
        self,
        folder: RunFolder,
        *,
        no_progress_seconds: float = 600.0,
        environment: Mapping[str, str] | None = None,
    ) -> LiveRun:
        """Start the trainer of a prepared folder; only lines written from now on are delivered."""
        reader, log_from = JournalReader(folder.journal, offset=_size(folder.journal)), _size(folder.log)
        trainer = self.launcher.start(folder, environment)
        run = LiveRun(folder, trainer, reader, no_progress_seconds, log_from)
        self.runs.append(run)
        return run

    def stop_all(self, reason: str, message: str) -> None:
        """Ask all trainers to stop at their next step."""
        for run in self.runs:
            run.folder.request_stop(reason, message)

    def end_all(self) -> None:
        """End all trainers now; they have one grace period for their checkpoints, all at the same time."""
        for run in self.runs:
            run.trainer.ask_to_end()
        for run in self.runs:
            run.trainer.end()

    def note_interrupt(self, number: int, _frame: object) -> None:
        """Signal handler: the first signal is noted for the loop, a second one interrupts whatever goes on."""
        if self.interrupted is not None:
            raise KeyboardInterrupt
        self.interrupted = signal.Signals(number)

    def raise_interrupt(self) -> None:
        """Hand a noted signal on to whoever handled it before us (Python, Prefect)."""
        if self.interrupted is not None:
            signal.raise_signal(self.interrupted)


def follow(fleet: Fleet, *, poll_seconds: float = 0.1) -> Iterator[Event]:
    """Deliver what the fleet's runs write and how they end, until none is left."""
    while fleet.runs:
        for run in list(fleet.runs):
            yield from _visit(fleet, run)
        yield Tick()
        if fleet.runs:
            time.sleep(poll_seconds)


def guarded_follow(fleet: Fleet) -> Generator[Event, None, None]:
    """`follow`, and no trainer outlives it, whatever happens to the loop.

    The first SIGINT, SIGTERM or SIGHUP stops all runs as cancelled; their endings are still delivered, then the caller
    tidies up and calls `fleet.raise_interrupt()`. A second signal raises KeyboardInterrupt at once.
    """
    with _signals_noted(fleet):
        try:
            deadline = None
            for event in follow(fleet):
                yield event
                if fleet.interrupted and deadline is None:
                    deadline = time.monotonic() + WIND_DOWN_SECONDS
                    fleet.stop_all("cancelled", f"interrupted by {fleet.interrupted.name}")
                elif deadline is not None and time.monotonic() > deadline:
                    fleet.end_all()
        finally:
            fleet.end_all()


@contextmanager
def _signals_noted(fleet: Fleet) -> Iterator[None]:
    """Only the main thread may have handlers; elsewhere an interrupt stays an exception."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noted = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    heard = [number for number in noted if signal.getsignal(number) is not signal.SIG_IGN]  # nohup and the like
    before = {number: signal.signal(number, fleet.note_interrupt) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _visit(fleet: Fleet, run: LiveRun) -> Iterator[Event]:
    returncode = run.trainer.returncode()  # before the poll: what it wrote before it ended is then all there
    entries = run.poll()
    if entries:
        yield Lines(run, entries)
    if returncode is not None:
        fleet.runs.remove(run)
        failure = run.failure or run.trainer.failure
        yield Ended(run, conclude(run.folder, returncode, failure=failure, log_from=run.log_from))
    elif run.is_stuck and run.failure is None:
        run.failure = f"no progress: nothing written for {run.no_progress_seconds:g} s, so its trainer was killed"
        run.trainer.end()
