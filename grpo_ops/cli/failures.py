"""Expected errors become one sentence and an exit code; a missing extra is named; a signal lets the command tidy up."""

import functools
import importlib.util
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, ParamSpec, TypeVar

from grpo_ops.errors import GrpoOpsError, MissingExtraError

P = ParamSpec("P")
R = TypeVar("R")

#: Exit codes: 0 done, 1 failed, 2 bad input, 3 refused by a gate, 130 interrupted, 128 + N ended by signal N.
EXIT_FAILED, EXIT_BAD_INPUT, EXIT_REFUSED, EXIT_INTERRUPTED = 1, 2, 3, 130


def one_sentence(command: Callable[P, R]) -> Callable[P, R]:
    """Print an expected error as one sentence and exit with 2 (bad input) or 1, without a traceback."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            with tidy_signals():
                return command(*args, **kwargs)
        except GrpoOpsError as error:
            _end(str(error), EXIT_BAD_INPUT if isinstance(error, ValueError) else EXIT_FAILED)
        except KeyboardInterrupt:
            _end("interrupted; the same command continues it", EXIT_INTERRUPTED)
        except BrokenPipeError:
            raise  # the reader of our output has gone (`| head`): click ends quietly
        except OSError as error:
            _end(_system_sentence(error), EXIT_FAILED)
        except Exception as error:
            if not type(error).__module__.startswith("sqlalchemy."):
                raise
            _end(f"the database cannot be used: {_first_line(error)}", EXIT_FAILED)

    return wrapped


@contextmanager
def tidy_signals() -> Iterator[None]:
    """Inside the block SIGTERM and SIGHUP, where nobody handles them, raise SystemExit: the terminal is left in order.

    A loop that handles them itself (supervise) raises them again when it has tidied up, and then they come here.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _leave)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def needs(extra: str, *modules: str) -> None:
    """Raise MissingExtraError unless all `modules` are installed (looked for, not imported)."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError(f"this command (for {module})", extra)


def complain(sentence: str) -> None:
    """Say what is wrong on stderr, and go on."""
    print(f"grpo-ops: {sentence}", file=sys.stderr)


def _leave(number: int, _frame: Any) -> NoReturn:
    raise SystemExit(128 + number)


def _end(sentence: str, code: int) -> NoReturn:
    complain(sentence)
    sys.exit(code)


def _system_sentence(error: OSError) -> str:
    reason = error.strerror or _first_line(error)
    return f"cannot use {error.filename}: {reason}" if error.filename else reason


def _first_line(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).strip().splitlines()[0][:300]
