"""What would have been on finished runs: backtests of forecasts, replays of sweeps against other pruners.

replay() and what it takes are imported on use, because they need Optuna.
"""

import importlib
from typing import TYPE_CHECKING, Any

from grpo_ops.replay.backtest import backtest
from grpo_ops.replay.rows import BacktestRow, mean_rows
from grpo_ops.replay.sources import Source, load_sources
from grpo_ops.replay.sweep_rows import SweepRow, mean_sweep_rows
from grpo_ops.replay.trials import Sweep

if TYPE_CHECKING:
    from grpo_ops.replay.rules import Candidate, candidates
    from grpo_ops.replay.sweeps import Protocol, replay

__all__ = [
    "BacktestRow",
    "Candidate",
    "Protocol",
    "Source",
    "Sweep",
    "SweepRow",
    "backtest",
    "candidates",
    "load_sources",
    "mean_rows",
    "mean_sweep_rows",
    "replay",
]
_ON_USE = {"Candidate": "rules", "candidates": "rules", "Protocol": "sweeps", "replay": "sweeps"}


def __getattr__(name: str) -> Any:
    if name in _ON_USE:
        return getattr(importlib.import_module(f"grpo_ops.replay.{_ON_USE[name]}"), name)
    raise AttributeError(f"module 'grpo_ops.replay' has no attribute {name!r}")
