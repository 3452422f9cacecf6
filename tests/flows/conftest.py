"""A real Prefect server and a real worker on loopback, for the tests of the deployments."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.processes import PATIENCE, as_from_a_terminal

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Prefect:
    """A running server: how to call its command line, and the home that its flows use."""

    environment: dict[str, str]
    home: Path

    def __call__(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(BIN / "prefect"), "--no-prompt", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=400,
        )
        assert not check or done.returncode == 0, f"{arguments}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _start(command, environment, log):
    quiet = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
    # With SIGINT ignored, as in a background job, a worker that is told to end never does.
    return subprocess.Popen(command, cwd=ROOT, env=environment, preexec_fn=as_from_a_terminal, **quiet)


def _stop(process, number=signal.SIGINT):
    process.send_signal(number)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def prefect(tmp_path_factory, starter_cache):
    home, port = tmp_path_factory.mktemp("home"), free_port()
    environment = os.environ | {
        "GRPO_OPS_HOME": str(home),
        "GRPO_OPS_CACHE": str(starter_cache),
        "PREFECT_HOME": str(home / "prefect"),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "true",
        "PREFECT_WORKER_QUERY_SECONDS": "1",
        "OMP_NUM_THREADS": "1",
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
    }
    with (home / "servers.log").open("wb") as log:
        server = _start([str(BIN / "prefect"), "server", "start", "--port", str(port)], environment, log)
        try:
            _wait_for(f"http://127.0.0.1:{port}/api/health", server)
            run = Prefect(environment, home)
            run("work-pool", "create", "grpo-local", "--type", "process")
            run("deploy", "--all", "--prefect-file", "deployments/prefect.yaml")
            start_worker = [str(BIN / "prefect"), "worker", "start", "--pool", "grpo-local"]
            worker = _start(start_worker, environment, log)
            try:
                yield run
            finally:
                _stop(worker)
        finally:
            _stop(server)


def _wait_for(url, process, seconds=PATIENCE):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.3)
    raise AssertionError(f"{url} did not answer in {seconds} s")
