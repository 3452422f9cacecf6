"""How a run can end, and what its folder says of it. Standard library only."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from grpo_ops.journal import RunFolder


class Ending(StrEnum):
    """How a run can end; the status in Optuna, MLflow and Prefect follows from it."""

    FINISHED = "finished"
    PLATEAU = "plateau"
    HOPELESS = "hopeless"
    DIVERGED = "diverged"
    CANCELLED = "cancelled"
    FAILED = "failed"

    @property
    def is_success(self) -> bool:
        return self in (Ending.FINISHED, Ending.PLATEAU)

    @property
    def is_pruned(self) -> bool:
        return self in (Ending.HOPELESS, Ending.DIVERGED)


def said_ending(folder: RunFolder) -> tuple[Ending, str] | None:
    """Ending and reason as the trainer of the last attempt left them in `result.json`; None where it left nothing."""
    result = folder.read_json(folder.result)
    attempt = (folder.read_json(folder.spec) or {}).get("attempt", 0)
    if result is None or result.get("attempt") != attempt:
        return None
    if result["reason"] == "finished":
        return Ending.FINISHED, f"all {result['step']} steps done"
    if result["reason"] == "failed":
        return Ending.FAILED, result["message"]
    return _stopped(result["stop"] or {})


def _stopped(stop: Mapping[str, Any]) -> tuple[Ending, str]:
    reason, message = stop.get("reason", "cancelled"), stop.get("message", "stopped")
    if reason in set(Ending):
        return Ending(reason), message
    return Ending.CANCELLED, f"{reason}: {message}"  # "preempted", or whatever else ended it: it can be continued
