"""A trainer and the vLLM server it asks for completions, followed as one: neither is left without the other.

A server that is lost takes its trainer with it. TRL's client repeats a request whose connection broke (five times,
within about a minute), and that is all it can do: the server that comes back has the weights of the first step, and the
NCCL group by which the trainer sent it new ones was formed once, when the trainer started. So both are started again,
as one more attempt of the run from its last checkpoint; a trainer that starts sends its weights before it generates.
"""

import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from grpo_ops.ending import Ending, said_ending
from grpo_ops.errors import SupervisionError
from grpo_ops.gpus import VISIBLE, divide, visible_gpus
from grpo_ops.journal import RunFolder, write_atomically
from grpo_ops.specs import RunSpec
from grpo_ops.supervise.child import ChildTrainer
from grpo_ops.supervise.engine import HOST, Engine, Patience, start_engine
from grpo_ops.supervise.prepare import prepare

_FAILED = 1


@dataclass
class ServedTrainer:
    """A trainer that is started once its server is healthy, and a server that is ended once its trainer is gone.

    failure: what the server did, where that ended the run. restarts: how often a lost server is started again.
    """

    folder: RunFolder
    start_engine: Callable[[], Engine]
    start_trainer: Callable[[], ChildTrainer]
    engine: Engine
    trainer: ChildTrainer | None = None
    failure: str | None = None
    restarts: int = 1
    _code: int | None = None
    _is_restarting: bool = False
    _is_asked_to_end: bool = False

    @property
    def is_starting(self) -> bool:
        """Whether the server is coming up: no trainer writes anything yet."""
        return self.trainer is None and self._code is None

    def returncode(self) -> int | None:
        """The trainer's exit code, once the server is gone too; 1 where the run ended without a trainer."""
        if self._code is None:
            self._go_on()
        return self._code if self._code is not None and self.engine.child.leave() else None

    def ask_to_end(self) -> None:
        """Ask the trainer; the server stays until it is gone."""
        self._is_asked_to_end = True
        if self.trainer is not None:
            self.trainer.ask_to_end()

    def end(self) -> None:
        self.ask_to_end()
        self._code = -signal.SIGTERM
        if self.trainer is not None:
            self.trainer.end()
            self._code = self.trainer.returncode()
        self.engine.child.end()

    def _go_on(self) -> None:
        """One look at both, and the one step that follows from it."""
        self.engine.look()
        if self._is_restarting:
            self._restart()
        elif self.trainer is None:
            self._await_server()
        elif (code := self.trainer.returncode()) is not None:
            self._trainer_ended(code)
        elif self.engine.failure is not None:
            self.trainer.leave()

    def _await_server(self) -> None:
        if self._is_asked_to_end:
            self._code = -signal.SIGTERM
        elif self.folder.stop_request() is not None:
            self._say_stopped()
        elif self.engine.failure is not None:
            self._server_lost()
        elif self.engine.is_healthy:
            self.trainer = self.start_trainer()

    def _trainer_ended(self, code: int) -> None:
        said = said_ending(self.folder)
        is_cut_off = said is None or said[0] in (Ending.FAILED, Ending.CANCELLED)
        if is_cut_off and self.engine.failure is None and not self.engine.answers():
            self.engine.failure = "the vLLM server did not answer when its trainer had ended"
        if is_cut_off and self.engine.failure is not None and not self._is_asked_to_end:
            self._server_lost()
        else:
            self._code = code

    def _server_lost(self) -> None:
        """Start both again, or give up."""
        stop = self.folder.stop_request()
        if self.restarts and stop is None:
            self.restarts -= 1
            self._is_restarting = True
        elif stop is not None:
            self._code = _FAILED if self.trainer is None else self.trainer.returncode()
        else:
            self.failure, self._code = f"{self.engine.failure}, after it had been started again once", _FAILED

    def _restart(self) -> None:
        if not self.engine.child.leave():
            return
        if self.trainer is not None:
            document = self.folder.read_json(self.folder.spec)
            spec = RunSpec.checked(document["spec"], str(self.folder.spec))
            prepare(self.folder, spec, allow_import_paths=document["allow_import_paths"])
        self.engine, self.trainer, self._is_restarting = self.start_engine(), None, False

    def _say_stopped(self) -> None:
        """In place of the trainer, which was never started: a run that was stopped before it began."""
        document, stop = self.folder.read_json(self.folder.spec), self.folder.stop_request() or {}
        result = {"run_key": self.folder.key, "attempt": document["attempt"], "reason": "stopped", "stop": stop}
        result |= {"message": stop.get("message", ""), "step": 0, "last_checkpoint": None, "best": None, "seconds": 0.0}
        write_atomically(self.folder.result, json.dumps(result, indent=1))
        self._code = 0


def start_served(
    folder: RunFolder,
    spec: RunSpec,
    environment: Mapping[str, str],
    command: Sequence[str],
    patience: Patience,
    start_trainer: Callable[[Mapping[str, str]], ChildTrainer],
) -> ServedTrainer:
    """Start the server of a run, and its trainer once that is healthy. Raises SupervisionError for lack of GPUs."""
    served, left = _environments(spec, environment)

    def engine() -> Engine:
        return start_engine(folder, command, served, spec.rollouts.vllm_server_timeout, patience)

    return ServedTrainer(folder, engine, lambda: start_trainer(left), engine())


def _environments(spec: RunSpec, environment: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The server's and the trainer's: each sees its own GPUs; where there are none to be seen, nothing is set."""
    rollouts, everything = spec.rollouts, os.environ | dict(environment)
    visible = [gpu.name for gpu in visible_gpus(everything)]
    served, left = divide(visible, rollouts.devices, rollouts.vllm_tensor_parallel_size)
    if visible and len(left) < spec.launch.processes:
        raise SupervisionError(
            f"the run {spec.name} sees the GPUs {', '.join(visible)}: its vLLM server takes {', '.join(served)}, which "
            f"leaves too few for launch.processes = {spec.launch.processes}"
        )
    around = {"NO_PROXY": _with_host(everything.get("NO_PROXY")), "no_proxy": _with_host(everything.get("no_proxy"))}
    own = {VISIBLE: ",".join(served)} if served else {}
    return {**environment, **own}, {**environment, **around, **({VISIBLE: ",".join(left)} if left else {})}


def _with_host(hosts: str | None) -> str:
    return f"{hosts},{HOST}" if hosts else HOST
