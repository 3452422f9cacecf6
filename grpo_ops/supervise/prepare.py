"""A run folder before its trainer starts: who owns it, which attempt it is, what the trainer is told."""

import contextlib
import fcntl
import json
import os
import time
from pathlib import Path

import psutil

from grpo_ops.errors import SupervisionError
from grpo_ops.home import Home
from grpo_ops.journal import RunFolder, write_atomically
from grpo_ops.processes import identity, is_alive, is_running, supervisor_of, trainers_in
from grpo_ops.specs import RunSpec

_GRACE_SECONDS = 12.0


def run_folder(home: Home, run_key: str) -> RunFolder:
    """The folder of the run with this key; it need not exist."""
    return RunFolder(home.runs / run_key)


def prepare(folder: RunFolder, spec: RunSpec, *, allow_import_paths: bool = False) -> int:
    """Make the folder ready for one more attempt and return that attempt's number (0 for the first).

    A trainer that an earlier supervisor left behind is waited for, then killed. An earlier result and stop request
    are put away, so that what is read afterwards is this attempt's. Raises SupervisionError if the run is live
    under another supervisor, or its folder cannot be written.
    """
    try:
        return _prepare(folder, spec, allow_import_paths)
    except OSError as error:
        raise SupervisionError(f"the run folder {folder.path} cannot be made ready: {error.strerror}") from error


def _prepare(folder: RunFolder, spec: RunSpec, allow_import_paths: bool) -> int:
    folder.path.mkdir(parents=True, exist_ok=True)
    adopt(folder)
    attempt = last_attempt(folder) + 1
    for leftover in (folder.result, folder.stop, folder.ask):
        leftover.unlink(missing_ok=True)
    document = {
        "run_key": folder.key,
        "attempt": attempt,
        "supervisor": identity(),
        "allow_import_paths": allow_import_paths,
        "spec": spec.model_dump(mode="json"),
    }
    write_atomically(folder.spec, json.dumps(document, indent=1))
    return attempt


def adopt(folder: RunFolder) -> None:
    """Take over a folder whose supervisor is gone: its trainer, if still there, gets a grace period and is killed."""
    owner = supervisor_of(folder)
    if owner.get("pid") != os.getpid() and is_alive(owner):
        raise SupervisionError(f"run {folder.key} is being run by process {owner['pid']}; stop that one first")
    for trainer in trainers_in(folder):
        _end(trainer)


def last_attempt(folder: RunFolder) -> int:
    """Number of the newest attempt that this folder knows of, -1 if it is new."""
    document = folder.read_json(folder.spec) or {}
    journalled = [entry["attempt"] for entry in folder.entries()]
    return int(max([document.get("attempt", -1), *journalled]))


class Lock:
    """A file lock that ends with its process: at most one holder on this machine. Raises SupervisionError if held."""

    def __init__(self, path: Path, what: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.seek(0)
            owner = self._file.read().strip() or "unknown"
            self._file.close()
            raise SupervisionError(f"{what} is being run by process {owner}; stop that one first") from None
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()

    def release(self) -> None:
        self._file.close()


def _end(process: psutil.Process) -> None:
    deadline = time.monotonic() + _GRACE_SECONDS
    while is_running(process):
        if time.monotonic() > deadline:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
            return
        time.sleep(0.2)
