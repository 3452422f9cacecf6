"""Who works in a run folder: supervisors and trainers, told by pid and start time."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

import psutil

from grpo_ops.journal import RunFolder


def identity() -> dict[str, Any]:
    """This process as `{"pid", "started"}`."""
    return {"pid": os.getpid(), "started": psutil.Process().create_time()}


def is_alive(who: Mapping[str, Any]) -> bool:
    """Whether the process `{"pid", "started"}` still runs (a reused pid has another start time)."""
    try:
        process = psutil.Process(who["pid"])
        return is_running(process) and abs(process.create_time() - who["started"]) < 1.0
    except (psutil.NoSuchProcess, KeyError, TypeError):
        return False


def is_running(process: psutil.Process) -> bool:
    """Whether it is there and no zombie."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def supervisor_of(folder: RunFolder) -> dict[str, Any]:
    """The process that last prepared this folder, {} for a new one."""
    return (folder.read_json(folder.spec) or {}).get("supervisor") or {}


def trainers_in(folder: RunFolder) -> list[psutil.Process]:
    """Live trainers of this folder: ours by their command line, anybody's by the pid in its journal."""
    started = {entry.get("pid") for entry in folder.entries() if entry["kind"] == "start"}
    return [
        process
        for process, line in _command_lines()
        if str(folder.path) in line and ("grpo_ops.training" in line or process.pid in started)
    ]


def _command_lines() -> Iterator[tuple[psutil.Process, list[str]]]:
    me = os.getpid()
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"]
        if line and process.pid != me and is_running(process):
            yield process, line
