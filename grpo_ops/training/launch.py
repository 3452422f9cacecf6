"""Several ranks of one trainer: this process becomes the launcher that starts them."""

import os
import signal
import sys
from collections.abc import Mapping
from typing import NoReturn

from grpo_ops.journal import RunFolder
from grpo_ops.specs import LaunchSpec
from grpo_ops.training.interruption import end_with_parent

#: Names the folder whose ranks a launcher has started: in them nothing is launched again.
LAUNCHED = "GRPO_OPS_LAUNCHED"


def is_to_be_launched(folder: RunFolder, launch: LaunchSpec) -> bool:
    """Whether this process is not a rank yet, though the run wants several."""
    return launch.is_distributed and os.environ.get(LAUNCHED) != str(folder.path)


def become_launcher(folder: RunFolder, launch: LaunchSpec) -> NoReturn:
    """Replace this process: its pid stays the trainer's, whose SIGTERM the launcher passes on to all ranks.

    What is set here outlives the exec: SIGINT is ignored (Ctrl-C is the supervisor's to handle), and the launcher is
    asked to end when its parent is gone.
    """
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    on_gpu = torch.cuda.is_available()
    command = launch_command(folder, launch, on_gpu)
    os.execve(command[0], command, launch_environment(folder, launch, on_gpu, os.environ))


def launch_command(folder: RunFolder, launch: LaunchSpec, on_gpu: bool) -> list[str]:
    """`accelerate launch` on GPUs; on a CPU, where that starts one process whatever it is told, `torchrun`."""
    trainer = ["grpo_ops.training", str(folder.path)]
    if not on_gpu:
        local = ["--standalone", "--local-addr", "127.0.0.1", "--nproc-per-node", str(launch.processes)]
        return [sys.executable, "-m", "torch.distributed.run", *local, "-m", *trainer]
    config = ["--config_file", launch.accelerate_config] if launch.accelerate_config else _plain(launch)
    machine = ["--num_processes", str(launch.processes), "--num_machines", "1", "--main_process_port", "0"]
    return [sys.executable, "-m", "accelerate.commands.launch", *config, *machine, "--module", *trainer]


def launch_environment(
    folder: RunFolder, launch: LaunchSpec, on_gpu: bool, environment: Mapping[str, str]
) -> dict[str, str]:
    """The environment of the launcher and its ranks: they share the threads that one process would have had."""
    own = {LAUNCHED: str(folder.path), "TORCHELASTIC_SIGNALS_TO_HANDLE": "SIGTERM,SIGHUP"}
    if not on_gpu:
        own["ACCELERATE_USE_CPU"] = "true"
    threads = environment.get("OMP_NUM_THREADS", "1")
    if threads.isdigit():
        own["OMP_NUM_THREADS"] = str(max(1, int(threads) // launch.processes))
    return {**environment, **own}


def _plain(launch: LaunchSpec) -> list[str]:
    """Flags for plain data parallelism, in place of what this machine's own accelerate configuration says."""
    several = ["--multi_gpu"] if launch.processes > 1 else []
    return [*several, "--mixed_precision", "no", "--dynamo_backend", "no"]
