"""One Optuna study (ask, run, judge, tell), and a run on its own, which imports no Optuna."""

from importlib import import_module
from typing import Any

from grpo_ops.sweep.board import Board, Row, leaderboard
from grpo_ops.sweep.single import TrainReport, run_key, train

__all__ = ["Board", "Row", "TrainReport", "export_study", "leaderboard", "run_key", "run_sweep", "thaw_trial", "train"]
#: What imports Optuna, and from where.
_LAZY = {"run_sweep": "sweep", "thaw_trial": "thaw_run", "export_study": "export"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"grpo_ops.sweep.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'grpo_ops.sweep' has no attribute {name!r}")
