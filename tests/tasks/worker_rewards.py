"""Rewards that a worker process imports by name."""

import functools
import os
import re
import subprocess
import sys
import time
from pathlib import Path


def length(completions, plus=0, **_):
    return [None if text == "none" else len(text) + plus for text in completions]


def pid(completions, **_):
    return [os.getpid()] * len(completions)


def prints_pid(completions, **_):
    print("noise")
    return pid(completions)


def uses_trl(completions, trainer_state, log_metric, log_extra, **_):
    assert not hasattr(trainer_state, "log_history")
    log_metric("seen", value=len(completions))
    log_extra("text", list(completions))
    return [trainer_state.global_step] * len(completions)


def blocks(completions, **_):
    if "block" in completions:
        time.sleep(60)
    return [len(text) for text in completions]


def backtracks(completions, **_):
    return [re.fullmatch("(a+)+", text) is not None for text in completions]


def raises(completions, **_):
    if "bad" in completions:
        raise ValueError("'no key'")
    return [1.0] * len(completions)


def too_few(completions, **_):
    return [1.0] * (len(completions) - 1)


def leaves(completions, **_):
    os._exit(3)


def starts_a_process(completions, note, **_):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(note).write_text(str(child.pid))
    child.wait()


class Thing:
    def __call__(self, completions, **_):
        return [len(text) for text in completions]


partial = functools.partial(length, plus=0)
thing = Thing()
anonymous = lambda completions, **_: [len(text) for text in completions]  # noqa: E731
