"""The reward curve of an MLflow run: one of ours, or one that transformers' own callback logged."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlflow import MlflowClient
from mlflow.entities import Metric, Run

from grpo_ops.curve import Observation, RewardCurve
from grpo_ops.errors import TrackingError
from grpo_ops.tracking.connection import Outage, connect, speaking
from grpo_ops.tracking.names import RUN_KEY
from grpo_ops.tracking.runs import find_run

#: In this order; the second is how W&B-style callbacks name it.
REWARDS = ("reward", "train/reward")
#: Columns that diagnoses use, by TRL's names; each costs a call.
_COLUMNS = (
    "reward_std",
    "frac_reward_zero_std",
    "kl",
    "entropy",
    "grad_norm",
    "loss",
    "completions/mean_length",
    "completions/clipped_ratio",
    "sampling/sampling_logp_difference/mean",
)
_HORIZONS = ("grpo.max_steps", "max_steps")
_LARGEST = 1e300  # MLflow gives an infinite value back as 1.797e308


@dataclass(frozen=True, slots=True)
class RunCurve:
    """A run's curve. notes: what a reader of the curve should know (repeats, gaps), each a sentence."""

    run_id: str
    name: str
    curve: RewardCurve
    notes: tuple[str, ...]


def curve_of_run(run: str, tracking_uri: str, *, metric: str | None = None) -> RunCurve:
    """The curve of the run with this MLflow run id or run key.

    metric: `reward` (or `train/reward`) by default, `eval_reward` for the evaluations. Of a step logged twice the
    later value counts in a foreign run (it belongs to the weights that survived), the first in one of ours.
    Raises TrackingError where there is no such run, no such metric, or no MLflow.
    """
    try:
        client = connect(tracking_uri)
        with speaking(f"read run {run}"):
            found = _look_up(client, run, tracking_uri)
            return _read(client, found, metric)
    except Outage as outage:
        raise TrackingError(str(outage)) from outage


def _look_up(client: MlflowClient, run: str, tracking_uri: str) -> Run:
    if re.fullmatch(r"[0-9a-f]{32}", run):
        return client.get_run(run)
    experiments = [experiment.experiment_id for experiment in client.search_experiments()]
    found = find_run(client, experiments, run)
    if found is None:
        raise TrackingError(f"there is no run with id or run key {run!r} in {tracking_uri}")
    return found


def _read(client: MlflowClient, run: Run, metric: str | None) -> RunCurve:
    known: Mapping[str, float] = run.data.metrics
    name = metric or next((name for name in REWARDS if name in known), REWARDS[0])
    if name not in known:
        raise TrackingError(
            f"run {run.info.run_id} has no metric {name!r}; it has {', '.join(sorted(known)) or 'none'}"
        )
    is_ours = RUN_KEY in run.data.tags
    points = client.get_metric_history(run.info.run_id, name)
    rewards, repeats = by_step(points, first_counts=is_ours)
    others = [other for other in _COLUMNS if other in known]
    columns = {o: by_step(client.get_metric_history(run.info.run_id, o), first_counts=is_ours)[0] for o in others}
    curve = RewardCurve.of(
        (Observation(step, rewards[step], _row(columns, step)) for step in sorted(rewards)), _horizon(run.data.params)
    )
    bad = sum(1 for point in points if not _is_finite(point))
    return RunCurve(run.info.run_id, run.info.run_name, curve, tuple(_notes(name, repeats, bad, is_ours)))


def by_step(points: Sequence[Metric], *, first_counts: bool) -> tuple[dict[int, float], int]:
    """Values by step, and how many points repeat a step; of those the first or the last logged counts."""
    finite = sorted(filter(_is_finite, points), key=lambda point: point.timestamp)
    values: dict[int, float] = {}
    for point in reversed(finite) if first_counts else finite:
        values[point.step] = point.value
    return values, len(finite) - len(values)


def _row(columns: Mapping[str, Mapping[int, float]], step: int) -> dict[str, float]:
    return {name: column[step] for name, column in columns.items() if step in column}


def _is_finite(point: Metric) -> bool:
    return math.isfinite(point.value) and abs(point.value) < _LARGEST


def _horizon(params: Mapping[str, str]) -> int | None:
    """The planned last step; transformers writes -1 where the epochs decide."""
    for name in _HORIZONS:
        steps = params.get(name, "")
        if steps.isdigit() and int(steps) > 0:
            return int(steps)
    return None


def _notes(name: str, repeats: int, bad: int, is_ours: bool) -> list[str]:
    notes = []
    if repeats:
        which = "first" if is_ours else "last"
        notes.append(f"{repeats} points of {name} repeat a step (a resumed run); the {which} value of a step counts")
    if bad:
        notes.append(f"{bad} points of {name} are not finite and are left out")
    return notes
