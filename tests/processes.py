"""Starting processes in tests as a user's terminal would."""

import signal


def as_from_a_terminal() -> None:
    """`preexec_fn` of a child: a background job (CI, nohup) hands on ignored signals, a terminal does not."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
