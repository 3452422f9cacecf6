"""`python -m grpo_ops.tasks.worker_process FD`: answers calls of one reward until the pipe is closed."""

import faulthandler
import pickle
import signal
import sys
from multiprocessing.connection import Connection
from typing import Any

from grpo_ops.errors import GrpoOpsError, RewardError
from grpo_ops.tasks.messages import Call, Setup, noting
from grpo_ops.tasks.scorer import Scorer
from grpo_ops.tasks.table import find_reward, given_to

#: How long after its limit a process whose trainer is gone ends by itself.
_GRACE_SECONDS = 10.0


def main(descriptor: int) -> None:
    """Set up the reward, then answer each request; end when nobody asks any more."""
    # The trainer's business. Handlers, unlike SIG_IGN, are not handed on to what a reward starts.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    with Connection(descriptor) as pipe:
        try:
            sys.path[:] = pickle.loads(pipe.recv_bytes())
            scorer = _set_up(pipe)
            while scorer is not None:
                _answer(pipe, scorer)
        except (EOFError, ConnectionError):
            return


def _set_up(pipe: Connection) -> Scorer | None:
    try:
        setup: Setup = pickle.loads(pipe.recv_bytes())
        function = find_reward(setup.path, allow_import_paths=True)
    except GrpoOpsError as error:
        pipe.send_bytes(pickle.dumps(RewardError(str(error))))
        return None
    pipe.send_bytes(pickle.dumps("ready"))
    return Scorer(function, setup.name, {**given_to(function, setup.task), **setup.config})


def _answer(pipe: Connection, scorer: Scorer) -> None:
    """One request. Where the trainer is gone and the reward does not return, the process ends all the same."""
    prompts, completions, columns, seconds = pickle.loads(pipe.recv_bytes())
    faulthandler.dump_traceback_later(seconds + _GRACE_SECONDS, exit=True)
    try:
        calls: list[Call] = []
        answer: Any = (scorer(prompts, completions, noting(columns, calls)).values, calls)
    except RewardError as error:
        answer = RewardError(str(error))  # without its cause, which need not be picklable
    finally:
        faulthandler.cancel_dump_traceback_later()
    pipe.send_bytes(pickle.dumps(answer))


if __name__ == "__main__":
    main(int(sys.argv[1]))
