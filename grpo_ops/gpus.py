"""Which NVIDIA GPUs a process would see, and how a run's are divided. Asked of the driver's program, not of torch."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

VISIBLE = "CUDA_VISIBLE_DEVICES"
_SECONDS = 20
_QUERY = ("--query-gpu=index,uuid,memory.total", "--format=csv,noheader,nounits")


@dataclass(frozen=True, slots=True)
class VisibleGpu:
    """name: as CUDA_VISIBLE_DEVICES names it. memory: in bytes."""

    name: str
    memory: float


def visible_gpus(environment: Mapping[str, str] | None = None) -> tuple[VisibleGpu, ...]:
    """The NVIDIA GPUs that a process with `environment` (default: this one's) sees; () without nvidia-smi.

    Raises OSError or subprocess.SubprocessError where nvidia-smi cannot be run or does not answer.
    """
    program = shutil.which("nvidia-smi")
    if program is None:
        return ()
    done = subprocess.run([program, *_QUERY], capture_output=True, text=True, timeout=_SECONDS, check=False)
    rows = [[part.strip() for part in line.split(",")] for line in done.stdout.splitlines() if line.count(",") == 2]
    named = (os.environ if environment is None else environment).get(VISIBLE)
    names = [index for index, *_ in rows] if named is None else [part.strip() for part in named.split(",")]
    return tuple(
        VisibleGpu(name, float(size) * 1024**2)
        for name in names
        for index, uuid, size in rows
        if _is_number(size) and (name == index or (len(name) > len("GPU-") and uuid.startswith(name)))
    )


def divide(visible: Sequence[str], named: Sequence[str], count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """GPUs of a server that takes `count`, and those left for its trainer: the last ones, unless they are `named`."""
    served = tuple(name.strip() for name in named) or tuple(visible[-count:])
    return served, tuple(name for name in visible if name not in served)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()
