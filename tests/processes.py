"""Starting processes in tests as a user's terminal would, and waiting for what they do."""

import signal
import subprocess
import time
from collections.abc import Callable

PATIENCE = 300.0
"""Seconds that cost nothing when things work, and are enough on a loaded machine."""


def as_from_a_terminal() -> None:
    """`preexec_fn` of a child: a background job (CI, nohup) hands on ignored signals, a terminal does not."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def wait_until(
    condition: Callable[[], object], seconds: float = PATIENCE, process: subprocess.Popen[bytes] | None = None
) -> None:
    """Return when `condition()` holds; fail after so many seconds, or at once when `process` ends before it."""
    deadline = time.monotonic() + seconds
    while not condition():
        # What the process did last may be what is awaited: look once more after its end.
        assert process is None or process.poll() is None or condition(), f"in vain: {_last_words(process)}"
        assert time.monotonic() < deadline, f"waited {seconds} s in vain"
        time.sleep(0.1)


def _last_words(process: subprocess.Popen[bytes]) -> str:
    said = process.stderr.read().decode(errors="replace")[-3000:] if process.stderr else "(stderr was not kept)"
    return f"the process ended with code {process.returncode}\n{said}"
