"""Backtests of forecasts on finished runs."""

from grpo_ops.replay.backtest import backtest
from grpo_ops.replay.rows import BacktestRow, mean_rows
from grpo_ops.replay.sources import Source, load_sources

__all__ = ["BacktestRow", "Source", "backtest", "load_sources", "mean_rows"]
