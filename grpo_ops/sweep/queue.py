"""Points drawn ahead: of those that wait, the one with the highest predicted result is tried next.

They are kept on the study, since Optuna hands out waiting trials in the order of their numbers: only the chosen point
becomes one, right before it is asked for. A process killed in between leaves it in both places; it is tried once.
"""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np
import optuna
from optuna.trial import TrialState

from grpo_ops.law.prospects import Known, prospects
from grpo_ops.specs import EXHAUSTIVE, SweepSpec
from grpo_ops.sweep.attributes import POINT, QUEUE
from grpo_ops.sweep.board import Row
from grpo_ops.sweep.samplers import UNLEARNING, make_sampler
from grpo_ops.sweep.space import suggest

Point = dict[str, Any]


def queue_most_promising(study: optuna.Study, spec: SweepSpec, rows: Sequence[Row], wanted: int) -> None:
    """Queue the point to be asked for next; nothing where the spec has no queue, or a trial waits already.

    rows: the runs that are over. wanted: how many are still to be begun; no more points are drawn ahead than that.
    """
    if not spec.queue or study.get_trials(deepcopy=False, states=(TrialState.WAITING,)):
        return
    points, drawn = waiting_points(study)
    lacking = min(spec.queue, wanted) - len(points)
    if lacking > 0:
        points, drawn = points + draw_ahead(study, spec, points, drawn, lacking), drawn + lacking
    chosen = points[most_promising(points, known_runs(rows, spec.objective))]
    study.set_user_attr(QUEUE, {"points": points, "drawn": drawn})
    study.enqueue_trial(chosen, user_attrs={POINT: chosen})
    study.set_user_attr(QUEUE, {"points": _without(points, chosen), "drawn": drawn})


def waiting_points(study: optuna.Study) -> tuple[list[Point], int]:
    """The points drawn ahead that are no trials yet, in drawn order, and how many were drawn so far in all."""
    known = study.user_attrs.get(QUEUE, {"points": [], "drawn": 0})
    points = list(known["points"])
    for trial in study.get_trials(deepcopy=False):
        points = _without(points, trial.user_attrs.get(POINT))
    return points, int(known["drawn"])


def most_promising(points: Sequence[Point], known: Sequence[Known]) -> int:
    """Index of the point with the highest predicted result; of equals, and with nothing known, the first."""
    mean, _ = prospects(known, points)
    return int(np.argmax(mean))


def known_runs(rows: Sequence[Row], objective: str) -> list[Known]:
    """What is known of runs that are over: their result; of a stopped one its forecast, as uncertain as its band.

    No result is below the level at which the runs began: how far one fell tells nothing of points that do not fall.
    """
    starts = [row.judged[0] for row in rows if row.judged]
    floor = median(starts) if starts else -np.inf
    found = [(row.parameters, *_level(row, objective)) for row in rows]
    return [Known(params, max(level, floor), error) for params, level, error in found if level is not None]


def draw_ahead(study: optuna.Study, spec: SweepSpec, waiting: Sequence[Point], drawn: int, count: int) -> list[Point]:
    """`count` new points of the study's sampler, which are no trials of the study.

    They are asked of a copy in memory. A sampler that learns sees what is over, and what runs or waits as running; one
    that does not is asked for its first points again, without those that were `drawn` before.
    """
    copy = optuna.create_study(direction="maximize")
    if spec.sampler in UNLEARNING and spec.sampler not in EXHAUSTIVE:
        copy.sampler = make_sampler(spec, 0)
        return [_drawn(copy, spec) for _ in range(drawn + count)][drawn:]
    trials = study.get_trials(deepcopy=False)
    copy.add_trials([trial for trial in trials if trial.state.is_finished()])
    copy.sampler = make_sampler(spec, len(trials) + drawn)
    for point in [*(trial.params for trial in trials if trial.state is TrialState.RUNNING), *waiting]:
        copy.enqueue_trial(point)
        _drawn(copy, spec)
    return [_drawn(copy, spec) for _ in range(count)]


def _drawn(copy: optuna.Study, spec: SweepSpec) -> Point:
    return suggest(copy.ask(), spec)


def _level(row: Row, objective: str) -> tuple[float | None, float]:
    if row.ending is not None and row.ending.is_pruned and row.forecast is not None:
        return row.forecast, row.forecast_sd or 0.0
    return (row.reward if objective == "reward" else row.evaluation), 0.0


def _without(points: Sequence[Point], point: Mapping[str, Any] | None) -> list[Point]:
    """`points` without the first that is `point`."""
    found = next((index for index, one in enumerate(points) if one == point), None)
    return [one for index, one in enumerate(points) if index != found]
