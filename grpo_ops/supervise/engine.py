"""One vLLM server beside a trainer: started, asked for its health, ended with all that it started."""

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from grpo_ops.home import quiet
from grpo_ops.journal import RunFolder, write_atomically
from grpo_ops.processes import is_alive
from grpo_ops.supervise.child import TERMINATION_GRACE_SECONDS, ChildTrainer
from grpo_ops.supervise.result import why_gone

HOST = "127.0.0.1"
#: What is started as the server unless a launcher says otherwise; run folder and port are appended.
SERVE = (sys.executable, "-m", "grpo_ops.supervise.serve")
_GUARD = Path(__file__).with_name("guard.py")


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a server is asked for its health, how long an answer may take, and how many in a row may be missing.

    starting, every: seconds between two questions, before and after the first answer.
    """

    starting: float = 1.0
    every: float = 10.0
    answer: float = 1.0
    misses: int = 6


PATIENCE = Patience()


@dataclass
class Engine:
    """A server that is a child process of this one. failure: why it is of no use any more.

    start_seconds: within them it must answer for the first time. log_from: where in its log this start begins.
    """

    child: ChildTrainer
    port: int
    log: Path
    log_from: int
    start_seconds: float
    patience: Patience
    is_healthy: bool = False
    failure: str | None = None
    started: float = field(default_factory=time.monotonic)
    _asked: float = 0.0
    _misses: int = 0

    def look(self) -> None:
        """Note what has become of it; to be called often."""
        code = self.child.returncode()
        if self.failure is not None:
            return
        if code is not None:
            self.failure = f"the vLLM server ended with {why_gone(self.log, self.log_from, code)}"
        elif time.monotonic() - self._asked > (self.patience.every if self.is_healthy else self.patience.starting):
            self._ask()

    def answers(self) -> bool:
        """Whether GET /health is answered with 200 now; it goes straight there, whatever proxy is set."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=self.patience.answer)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _ask(self) -> None:
        answered = self.answers()
        self._asked = time.monotonic()
        self._misses = 0 if answered else self._misses + 1
        if answered:
            self.is_healthy = True
        elif self.is_healthy and self._misses >= self.patience.misses:
            self.failure = f"the vLLM server left GET /health unanswered {self._misses} times in a row"
        elif not self.is_healthy and self._asked - self.started > self.start_seconds:
            self.failure = (
                f"the vLLM server was not healthy {self.start_seconds:g} s after its start: see {self.log}, or raise "
                "rollouts.vllm_server_timeout"
            )


def engine_log(folder: RunFolder) -> Path:
    """What all servers of a run have said."""
    return folder.path / "engine.log"


def engine_file(folder: RunFolder) -> Path:
    """`{"pid", "started", "base_url", "group_port"}`: where the trainer finds the server, and who guards it."""
    return folder.path / "engine.json"


def start_engine(
    folder: RunFolder,
    command: Sequence[str],
    environment: Mapping[str, str],
    start_seconds: float,
    patience: Patience,
) -> Engine:
    """Start `command` with the folder and a free port, in a session of its own, under a guard that ends it with us.

    A server that an earlier supervisor of this run left behind is ended first: it may still hold the GPU.
    """
    _end_leftover(folder)
    port, log = _free_port(), engine_log(folder)
    log_from = log.stat().st_size if log.exists() else 0
    guarded = [sys.executable, "-P", str(_GUARD), str(os.getpid()), *command, str(folder.path), str(port)]
    with log.open("ab") as file:
        process = subprocess.Popen(
            guarded,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            env=quiet() | {"PYTHONUNBUFFERED": "1"} | dict(environment),
            start_new_session=True,  # Ctrl-C is the supervisor's to handle: the trainer needs the server to the end
        )
    _note(folder, process.pid, port)
    return Engine(ChildTrainer(process), port, log, log_from, start_seconds, patience)


def _note(folder: RunFolder, pid: int, port: int) -> None:
    address = {"base_url": f"http://{HOST}:{port}", "group_port": _free_port()}
    who = {"pid": pid, "started": psutil.Process(pid).create_time()}
    write_atomically(engine_file(folder), json.dumps(who | address))


def _end_leftover(folder: RunFolder) -> None:
    who = folder.read_json(engine_file(folder)) or {}
    if not is_alive(who):
        return
    guard = psutil.Process(who["pid"])
    family = [guard, *guard.children(recursive=True)]
    guard.terminate()
    psutil.wait_procs([guard], timeout=TERMINATION_GRACE_SECONDS)
    for process in family:
        if process.is_running():
            process.kill()
    psutil.wait_procs(family, timeout=3)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
