"""Whether this machine shows the devices that a sweep's slots name; torch is not imported for it."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from grpo_ops.gpus import VISIBLE

_SECONDS = 20


def device_faults(devices: Sequence[str]) -> Iterator[str]:
    """One sentence for each device of the slots that no trial could see; a trial would then train on the CPU.

    Names other than numbers (UUIDs) are compared with CUDA_VISIBLE_DEVICES only.
    """
    if not devices:
        return
    named = [part.strip() for device in devices for part in device.split(",")]
    visible = os.environ.get(VISIBLE)
    count = visible_count()
    for name in named:
        if visible is not None and name not in _parts(visible):
            yield f"devices: {name} is not among the devices of this process, {VISIBLE}={visible!r}"
        elif visible is None and count is not None and name.isdigit() and int(name) >= count:
            shown = f"{count}, numbered from 0" if count else "none"
            yield f"devices: {name} is named, but the CUDA devices that this machine shows are {shown}"


def visible_count(driver: Path = Path("/proc/driver/nvidia/gpus"), amd: Path = Path("/dev/kfd")) -> int | None:
    """How many NVIDIA devices the driver shows; None where that cannot be known (an AMD machine)."""
    program = shutil.which("nvidia-smi")
    if program is not None:
        done = subprocess.run([program, "-L"], capture_output=True, text=True, timeout=_SECONDS, check=False)
        return len(re.findall(r"(?m)^GPU \d+:", done.stdout))
    if amd.exists():
        return None
    return len(list(driver.iterdir())) if driver.is_dir() else 0


def _parts(visible: str) -> list[str]:
    return [part.strip() for part in visible.split(",")]
