"""Thawing: a trial that was stopped is paused, not dead, and goes on from its checkpoint as a new attempt of its run.

What was stopped by comparison is compared no more: a thawed trial runs to its end unless it collapses (one that had
collapsed is not judged at all), since the same evidence would stop it again at once.
"""

import math
from collections.abc import Mapping
from statistics import NormalDist

import optuna

from grpo_ops.ending import Ending
from grpo_ops.sweep import study as studies
from grpo_ops.sweep.board import Row
from grpo_ops.sweep.resume import Past

#: User attribute of the study: run_key to [step, ending] at which a run was stopped that has been thawed.
THAWED = "grpo_ops.thawed"
_STOPPED = (Ending.HOPELESS, Ending.PLATEAU, Ending.DIVERGED)


def queue_thaw(study: optuna.Study, row: Row) -> None:
    """Queue the next attempt of a stopped run; noted first, so that a kill on the way hides nothing."""
    assert row.ending is not None
    known = study.user_attrs.get(THAWED, {})
    study.set_user_attr(THAWED, {**known, row.key: [row.step, row.ending.value]})
    studies.queue_retry(study, row.key)


def thawed_from(study: optuna.Study, run_key: str) -> Ending | None:
    """The ending that a run had before it was thawed; None for one that never was."""
    noted = study.user_attrs.get(THAWED, {}).get(run_key)
    return None if noted is None else Ending(noted[1])


def is_stopped(row: Row) -> bool:
    """Whether a run was stopped before its last step."""
    return row.ending in _STOPPED and row.step < row.max_steps


def next_to_thaw(
    study: optuna.Study, past: Mapping[str, Past], share: float, objective: str = "eval_reward"
) -> Past | None:
    """The most promising stopped run that fits into what is left of `share` of the steps saved; None for none.

    A run is thawed once. What is left: the share of what all stops saved, less what thawed runs got back.
    """
    thawed: Mapping[str, list[int]] = study.user_attrs.get(THAWED, {})
    rows = {key: run.row for key, run in past.items()}
    got_back = sum(rows[key].max_steps - noted[0] for key, noted in thawed.items() if key in rows)
    stopped = [row for row in rows.values() if is_stopped(row) and row.key not in thawed]
    saved = got_back + sum(row.max_steps - row.step for row in stopped)
    room = share * saved - got_back
    fitting = [row for row in stopped if row.max_steps - row.step <= room and row.ending is not Ending.DIVERGED]
    best = most_promising(fitting, list(rows.values()), objective)
    return None if best is None else past[best.key]


def most_promising(candidates: list[Row], rows: list[Row], objective: str = "eval_reward") -> Row | None:
    """The row with the highest chance to beat the best of `rows`, by the forecast that was made when it was stopped.

    objective: what was forecast, and what the others are taken at: `eval_reward` or `reward`.
    """
    scores = [row.reward if objective == "reward" else row.evaluation for row in rows]
    best = max((score for score in scores if score is not None), default=0.0)
    return max(candidates, key=lambda row: chance_to_beat(row, best), default=None)


def chance_to_beat(row: Row, best: float) -> tuple[float, float]:
    """(chance that the run ends above `best`, its forecast); without a band the chance is 0 or 1, without both 0."""
    if row.forecast is None:
        return 0.0, -math.inf
    sd = row.forecast_sd
    if sd is None or sd <= 0:
        return float(row.forecast > best), row.forecast
    return 1 - NormalDist(row.forecast, sd).cdf(best), row.forecast
