"""Whether this machine can start the ranks that a spec asks for."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from grpo_ops.gpus import VISIBLE
from grpo_ops.preflight.devices import visible_count
from grpo_ops.specs import LaunchSpec


def launch_faults(launch: LaunchSpec) -> Iterator[str]:
    """One sentence for each reason why the ranks could not be started; without a GPU they train on the CPU."""
    config = launch.accelerate_config
    if config is not None:
        yield from _config_faults(config)
    count = _devices()
    if count is None or not launch.is_distributed:
        return
    if config is not None and count == 0:
        yield "launch.accelerate_config: FSDP and DeepSpeed need GPUs, and this machine shows none; leave it out"
    elif 0 < count < launch.processes:
        yield f"launch.processes: {launch.processes} ranks need a GPU each, and this machine shows {count}"


def slot_faults(launch: LaunchSpec, devices: Sequence[str], served: int = 0) -> Iterator[str]:
    """One sentence for each slot of a sweep with another number of devices than its trials need.

    served: devices that the vLLM server of a trial takes beside its ranks.
    """
    server = f", and the vLLM server needs {served}" if served else ""
    for slot in devices:
        found = len(slot.split(","))
        if found != launch.processes + served:
            yield (
                f"devices: the slot {slot!r} has {found}, but run.launch.processes = {launch.processes} ranks need one "
                f"device each{server}"
            )


def _config_faults(config: str) -> Iterator[str]:
    if not Path(config).is_file():
        yield f"launch.accelerate_config: there is no file {config!r} (paths are relative to {Path.cwd()})"
        return
    from accelerate.commands.config.config_args import load_config_from_file

    try:
        load_config_from_file(config)
    except Exception as error:  # noqa: BLE001 - its parser raises what YAML, JSON and its own checks raise
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        yield f"launch.accelerate_config: accelerate cannot read {config!r}: {reason}"


def _devices() -> int | None:
    """GPUs that a trainer of this process would see; None where that cannot be known."""
    visible = os.environ.get(VISIBLE)
    return visible_count() if visible is None else len([part for part in visible.split(",") if part.strip()])
