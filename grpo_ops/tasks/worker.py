"""A reward function in a process of its own, which a call that takes too long does not survive.

Only ending a process stops a function that does not return: an alarm signal works in the main thread alone and not in
the middle of a regular expression. The process is new, not a fork: a trainer has threads and a GPU.
"""

import contextlib
import logging
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import psutil

from grpo_ops.errors import RewardError
from grpo_ops.tasks.messages import Setup, replay, sendable
from grpo_ops.tasks.scorer import Scores, own_columns

_log = logging.getLogger(__name__)
_MODULE = "grpo_ops.tasks.worker_process"
_STDERR = 2
_START_SECONDS = 300.0
_LEAST_SECONDS = 1.0


class Worker:
    """Calls a reward in another process, at most `seconds` a call; the process is started when it is first needed.

    one_by_one: whether, after a timeout, each completion is scored by itself, with its share of the time and at least
    a second, until those that block have used `seconds` again. Otherwise all of them are None: a function may look at
    the batch as a whole, and would give its parts other values.

    Raises RewardError as the reward does, and where the process cannot be started, ends by itself, or cannot be sent
    what it needs.
    """

    def __init__(self, setup: Setup, seconds: float, *, one_by_one: bool = False) -> None:
        self.setup = setup
        self.seconds = seconds
        self.one_by_one = one_by_one
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._is_ready = False
        self._finalizer: weakref.finalize[..., Any] | None = None

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]) -> Scores:
        values = self._call(prompts, completions, columns, self.seconds)
        if values is not None:
            return Scores(values)
        _log.warning("reward %r did not answer within %g s", self.setup.name, self.seconds)
        if not self.one_by_one or len(completions) < 2:
            return Scores([None] * len(completions), len(completions))
        return self._each(prompts, completions, columns)

    def start(self) -> None:
        """Start the process, without waiting until it is ready."""
        if self._process is not None:
            return
        ours, theirs = Pipe()
        with theirs:
            command = [sys.executable, "-m", _MODULE, str(theirs.fileno())]
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=_STDERR, pass_fds=[theirs.fileno()]
            )
        self._pipe, self._is_ready = ours, False
        self._finalizer = weakref.finalize(self, _end, self._process, ours)
        with _broken_pipe_is(self._ended):
            ours.send_bytes(pickle.dumps(sys.path))
            ours.send_bytes(self._pickled(self.setup))

    def stop(self) -> None:
        """End the process and all that it started; the next call starts another."""
        if self._finalizer is not None:
            self._finalizer()
        self._process = self._pipe = self._finalizer = None

    def _each(self, prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]) -> Scores:
        limit = max(_LEAST_SECONDS, self.seconds / len(completions))
        values: list[float | None] = []
        timeouts = 0
        for index, completion in enumerate(completions):
            own = own_columns(columns, index, len(completions))
            is_late = timeouts * limit >= self.seconds
            found = None if is_late else self._call([prompts[index]], [completion], own, limit)
            timeouts += found is None
            values.append(found[0] if found else None)
        return Scores(values, timeouts)

    def _call(
        self, prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any], seconds: float
    ) -> list[float | None] | None:
        """The values, None after a timeout. After all that is no answer the process is ended: it may still be busy."""
        request = self._pickled((prompts, completions, sendable(columns), seconds))
        try:
            self._await_ready()
            answer = self._exchange(request, seconds)
        except BaseException:
            self.stop()
            raise
        if answer is None:
            self.stop()
            return None
        if isinstance(answer, RewardError):
            raise answer
        values: list[float | None]
        values, calls = answer
        replay(columns, calls)
        return values

    def _await_ready(self) -> None:
        self.start()
        assert self._pipe is not None
        if self._is_ready:
            return
        if not self._pipe.poll(_START_SECONDS):
            raise RewardError(f"the process of reward {self.setup.name!r} was not ready after {_START_SECONDS:g} s")
        if isinstance(answer := self._receive(), RewardError):
            raise answer
        self._is_ready = True

    def _exchange(self, request: bytes, seconds: float) -> Any:
        assert self._pipe is not None
        with _broken_pipe_is(self._ended):
            self._pipe.send_bytes(request)
        return self._receive() if self._pipe.poll(seconds) else None

    def _receive(self) -> Any:
        assert self._pipe is not None
        with _broken_pipe_is(self._ended):
            return pickle.loads(self._pipe.recv_bytes())

    def _pickled(self, value: Any) -> bytes:
        try:  # not Connection.send: with torch loaded it would share tensors instead of sending them
            return pickle.dumps(value)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise RewardError(
                f"reward {self.setup.name!r} cannot be called in a process of its own ({error}); "
                "set its timeout_seconds to 0 to call it in the trainer's"
            ) from error

    def _ended(self) -> RewardError:
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        code = self._process.returncode
        return RewardError(f"the process of reward {self.setup.name!r} ended by itself, with exit code {code}")


@contextlib.contextmanager
def _broken_pipe_is(error: Callable[[], Exception]) -> Iterator[None]:
    try:
        yield
    except (EOFError, ConnectionError) as broken:
        raise error() from broken


def _end(process: "subprocess.Popen[bytes]", pipe: Connection) -> None:
    """Kill the process and its descendants."""
    pipe.close()
    family = []
    with contextlib.suppress(psutil.NoSuchProcess):
        family = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    for child in family:
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
