"""Expected errors become one sentence and an exit code; a missing extra is named."""

import functools
import importlib.util
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from grpo_ops.errors import GrpoOpsError, MissingExtraError

P = ParamSpec("P")
R = TypeVar("R")

#: Exit codes: 0 done, 1 failed, 2 bad input, 3 refused by a gate, 130 interrupted.
EXIT_FAILED, EXIT_BAD_INPUT, EXIT_REFUSED, EXIT_INTERRUPTED = 1, 2, 3, 130


def one_sentence(command: Callable[P, R]) -> Callable[P, R]:
    """Print a GrpoOpsError as one sentence and exit with 2 (bad input) or 1, without a traceback."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except GrpoOpsError as error:
            print(f"grpo-ops: {error}", file=sys.stderr)
            sys.exit(EXIT_BAD_INPUT if isinstance(error, ValueError) else EXIT_FAILED)
        except KeyboardInterrupt:
            print("grpo-ops: interrupted; the same command continues it", file=sys.stderr)
            sys.exit(EXIT_INTERRUPTED)

    return wrapped


def needs(extra: str, *modules: str) -> None:
    """Raise MissingExtraError unless all `modules` are installed (looked for, not imported)."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError(f"this command (for {module})", extra)
