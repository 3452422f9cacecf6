"""Start a trainer process, follow its journal, stop it, know how it ended."""

from grpo_ops.ending import Ending
from grpo_ops.supervise.follow import Ended, Event, Fleet, Lines, LiveRun, Tick, follow, guarded_follow
from grpo_ops.supervise.launch import Launcher, ProcessLauncher, Trainer
from grpo_ops.supervise.prepare import Lock, adopt, prepare, run_folder
from grpo_ops.supervise.result import Checkpoint, RunResult, conclude

__all__ = [
    "Checkpoint",
    "Ended",
    "Ending",
    "Event",
    "Fleet",
    "Launcher",
    "Lines",
    "LiveRun",
    "Lock",
    "ProcessLauncher",
    "RunResult",
    "Tick",
    "Trainer",
    "adopt",
    "conclude",
    "follow",
    "guarded_follow",
    "prepare",
    "run_folder",
]
