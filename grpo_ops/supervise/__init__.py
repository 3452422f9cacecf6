"""Start a trainer process, follow its journal, stop it, know how it ended."""

from grpo_ops.supervise.follow import Ended, Event, Fleet, Lines, Tick, follow, guarded_follow
from grpo_ops.supervise.launch import Launcher, ProcessLauncher, Trainer
from grpo_ops.supervise.prepare import adopt, is_alive, prepare, run_folder
from grpo_ops.supervise.result import Checkpoint, Ending, RunResult, conclude

__all__ = [
    "Checkpoint",
    "Ended",
    "Ending",
    "Event",
    "Fleet",
    "Launcher",
    "Lines",
    "ProcessLauncher",
    "RunResult",
    "Tick",
    "Trainer",
    "adopt",
    "conclude",
    "follow",
    "guarded_follow",
    "is_alive",
    "prepare",
    "run_folder",
]
