"""Curves from transformers' trainer_state.json: its log_history, without evaluation lines and the final summary."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from grpo_ops.errors import CurveError
from grpo_ops.reading.cleaning import Table
from grpo_ops.reading.columns import table_of
from grpo_ops.reading.rows import columns_of, rewarded
from grpo_ops.reading.text import text_of


def read_trainer_state(path: Path, step: str | None, reward: str | None) -> Table:
    """The lines of `log_history` that carry a reward. Raises CurveError for any other JSON."""
    state = _state(path)
    lines = [line for line in state["log_history"] if isinstance(line, dict)]
    rows, name = rewarded(lines, str(path), reward)
    table = table_of(columns_of(rows), str(path), step or "step", name)
    return replace(table, max_steps=_positive(state, "max_steps"), window=_positive(state, "logging_steps"))


def _state(path: Path) -> Mapping[str, Any]:
    text = text_of(path.read_bytes())
    try:
        state = json.loads(text)
    except RecursionError as error:
        raise CurveError(f"{path} is nested too deeply; give the trainer_state.json of a checkpoint") from error
    except ValueError as error:
        raise CurveError(f"{path} is not JSON ({error}); give the trainer_state.json of a checkpoint") from error
    if not isinstance(state, dict) or not isinstance(state.get("log_history"), list):
        raise CurveError(f"{path} has no log_history; give the trainer_state.json of a checkpoint")
    return state


def _positive(state: Mapping[str, Any], name: str) -> int | None:
    value = state.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
