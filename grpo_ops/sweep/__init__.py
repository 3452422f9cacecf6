"""One Optuna study (ask, run, judge, tell), and a run on its own, which imports no Optuna."""

from typing import Any

from grpo_ops.sweep.board import Board, Row, leaderboard
from grpo_ops.sweep.single import TrainReport, run_key, train

__all__ = ["Board", "Row", "TrainReport", "leaderboard", "run_key", "run_sweep", "train"]


def __getattr__(name: str) -> Any:
    if name == "run_sweep":
        from grpo_ops.sweep.sweep import run_sweep

        return run_sweep
    raise AttributeError(f"module 'grpo_ops.sweep' has no attribute {name!r}")
