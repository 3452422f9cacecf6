"""Curves from transformers' trainer_state.json: its log_history, without evaluation lines and the final summary."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grpo_ops.errors import CurveError
from grpo_ops.reading.cleaning import Table, to_number
from grpo_ops.reading.tables import REWARD_NAMES


def read_trainer_state(path: Path, step: str | None, reward: str | None) -> Table:
    """The lines of `log_history` that carry a reward. Raises CurveError for any other JSON."""
    state = _state(path)
    lines = [line for line in state["log_history"] if isinstance(line, dict)]
    name = reward or next((name for name in REWARD_NAMES if any(name in line for line in lines)), None)
    rows = [line for line in lines if name in line]
    if not rows or name is None:
        raise CurveError(f"{path} logs no {reward or 'reward'}: was this run trained by GRPO?")
    others = sorted({key for line in rows for key in line} - {name, step or "step"})
    metrics = {key: [to_number(line.get(key)) for line in rows] for key in others}
    steps = [to_number(line.get(step or "step")) for line in rows]
    known = {key: column for key, column in metrics.items() if not all(map(math.isnan, column))}
    return Table(steps, [to_number(line[name]) for line in rows], known, _max_steps(state))


def _state(path: Path) -> Mapping[str, Any]:
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise CurveError(f"{path} is not JSON ({error}); give the trainer_state.json of a checkpoint") from error
    if not isinstance(state, dict) or not isinstance(state.get("log_history"), list):
        raise CurveError(f"{path} has no log_history; give the trainer_state.json of a checkpoint")
    return state


def _max_steps(state: Mapping[str, Any]) -> int | None:
    planned = state.get("max_steps")
    return planned if isinstance(planned, int) and planned > 0 else None
