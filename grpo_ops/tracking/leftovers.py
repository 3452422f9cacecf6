"""What a run folder says by itself: whether somebody is at work in it, and how its run ended if nobody is."""

from collections.abc import Sequence

from grpo_ops.ending import Ending, said_ending
from grpo_ops.journal import Entry, RunFolder, journal_curve
from grpo_ops.law import exponential, fit
from grpo_ops.processes import is_alive, supervisor_of, trainers_in
from grpo_ops.tracking.closing import Closing


def is_live(folder: RunFolder) -> bool:
    """Whether a supervisor or a trainer is at work in this folder."""
    return is_alive(supervisor_of(folder)) or bool(trainers_in(folder))


def ending_of(folder: RunFolder, entries: Sequence[Entry], max_steps: int | None) -> Closing:
    """How the run in a folder that nobody works in ended. Without a result of its last attempt it has failed."""
    ending, reason = said_ending(folder) or (Ending.FAILED, "its trainer is gone without a result")
    time = max((float(entry["time"]) for entry in entries), default=folder.path.stat().st_mtime)
    law = fit(journal_curve(list(entries), max_steps), exponential).as_dict()
    return Closing(ending.value, reason, time, law)
