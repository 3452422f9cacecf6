"""What a run folder says by itself: whether somebody is at work in it, and how its run ended if nobody is."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from grpo_ops.journal import Entry, RunFolder, journal_curve
from grpo_ops.law import exponential, fit
from grpo_ops.tracking.closing import Closing
from grpo_ops.tracking.names import STATUSES


def is_live(folder: RunFolder) -> bool:
    """Whether a supervisor or a trainer is at work in this folder."""
    owner = (folder.read_json(folder.spec) or {}).get("supervisor") or {}
    return is_running(owner) or any(_trains_in(process, folder.path) for process in psutil.process_iter(["cmdline"]))


def is_running(identity: Mapping[str, Any]) -> bool:
    """Whether the process `{"pid", "started"}` still runs (a reused pid has another start time)."""
    try:
        process = psutil.Process(identity["pid"])
        return process.status() != psutil.STATUS_ZOMBIE and abs(process.create_time() - identity["started"]) < 1.0
    except (psutil.NoSuchProcess, KeyError, TypeError):
        return False


def ending_of(folder: RunFolder, entries: Sequence[Entry], max_steps: int | None) -> Closing:
    """How the run in a folder that nobody works in ended. Without a result of its last attempt it has failed."""
    ending, reason = _ending(folder)
    time = max((float(entry["time"]) for entry in entries), default=folder.path.stat().st_mtime)
    law = fit(journal_curve(list(entries), max_steps), exponential).as_dict()
    return Closing(ending, reason, time, law)


def _ending(folder: RunFolder) -> tuple[str, str]:
    result = folder.read_json(folder.result) or {}
    attempt = (folder.read_json(folder.spec) or {}).get("attempt", result.get("attempt"))
    if not result or result.get("attempt") != attempt:
        return "failed", "its trainer is gone without a result"
    if result["reason"] == "finished":
        return "finished", f"all {result['step']} steps done"
    if result["reason"] == "failed":
        return "failed", result["message"]
    stop = result.get("stop") or {}
    word, message = stop.get("reason", "cancelled"), stop.get("message", "stopped")
    return (word, message) if word in STATUSES else ("cancelled", f"{word}: {message}")


def _trains_in(process: psutil.Process, path: Path) -> bool:
    line = process.info["cmdline"] or ()
    return "grpo_ops.training" in line and str(path) in line
