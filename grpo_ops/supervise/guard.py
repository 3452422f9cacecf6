"""`python -P guard.py SUPERVISOR_PID COMMAND...`: runs a command that ends, with all it started, when SUPERVISOR does.

A script of its own, which imports nothing of grpo_ops: it stands beside a server for as long as a run lasts.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time

import psutil

#: Between being asked to end and being killed; shorter than what the supervisor grants its children.
GRACE_SECONDS = 5.0
#: A trainer whose supervisor is gone saves a checkpoint: so long it may need the server for its last step.
ORPHANED_SECONDS = 8.0
_LOOK_SECONDS = 0.1
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def main(supervisor: int, command: list[str]) -> int:
    """The command's exit code, 128 and the signal's number where a signal ended it."""
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)  # what its processes leave behind, also in sessions of their own, comes to us
    server = subprocess.Popen(command, preexec_fn=_die_with_parent)
    deadline = float("inf")
    while server.poll() is None and not asked and time.monotonic() < deadline:
        if os.getppid() != supervisor:
            deadline = min(deadline, time.monotonic() + ORPHANED_SECONDS)
        time.sleep(_LOOK_SECONDS)
    _end_tree(server)
    return server.returncode if server.returncode >= 0 else 128 - server.returncode


def _end_tree(server: subprocess.Popen[bytes]) -> None:
    if server.poll() is None:
        server.terminate()
    deadline = time.monotonic() + GRACE_SECONDS
    while (family := _family()) and time.monotonic() < deadline and server.poll() is None:
        time.sleep(_LOOK_SECONDS)
    while family:
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(family, timeout=1)
        family = _family()
    server.wait()


def _family() -> list[psutil.Process]:
    """All that runs below this process."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def _die_with_parent() -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
