"""Starting processes in tests as a user's terminal would."""

import signal
import time


def as_from_a_terminal() -> None:
    """`preexec_fn` of a child: a background job (CI, nohup) hands on ignored signals, a terminal does not."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def wait_until(condition, seconds=60.0):
    """Return when `condition()` holds; fail after so many seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain"
        time.sleep(0.1)
