"""Further seeds for the points that cannot be told from the best: that is where repeating a run decides something.

When all trials are over (and none is to be thawed), the winner and the finished trials that cannot be told from it
are trained again with run.seed + 1, + 2, ..., up to `repeats` runs each, the fewest runs first; after each one the
winner is found anew, so that a point that has fallen behind gets no more. All are evaluated on the same prompts, so
that the means of two points stay paired. A repeat is a trial with the same parameters and a value of its own (samplers
know noisy values), with `repeats_of` and `repeat` among its attributes. It is none of the trials asked for, and no
pruner compares it: stopping the unlucky seeds would make a point look better than it is.
"""

from collections.abc import Iterable, Mapping

import optuna

from grpo_ops.specs import SweepSpec
from grpo_ops.sweep import study as studies
from grpo_ops.sweep.attributes import ATTEMPT, REPEAT, REPEATS_OF, RUN_KEY
from grpo_ops.sweep.resume import Past
from grpo_ops.sweep.winner import Entrant, Winner, find_winner


def queue_repeat(study: optuna.Study, spec: SweepSpec, past: Mapping[str, Past]) -> str | None:
    """Queue the next repeat; its run_key, or None where no further one would tell more. past: all trials are in it."""
    counts = _counts(study)
    point = _next_point(spec, past, counts)
    if point is None:
        return None
    attributes = {
        RUN_KEY: f"{point}-r{counts[point]}",
        ATTEMPT: 0,
        REPEATS_OF: point,
        REPEAT: counts[point],
    }
    study.enqueue_trial(dict(past[point].row.parameters), user_attrs=attributes)
    return str(attributes[RUN_KEY])


def wants_repeat(study: optuna.Study, spec: SweepSpec, past: Mapping[str, Past]) -> bool:
    """Whether `queue_repeat` would queue one."""
    return _next_point(spec, past, _counts(study)) is not None


def winner_of(past: Iterable[Past], objective: str) -> Winner | None:
    """The winner among runs that are over, all seeds of a point taken together."""
    points: dict[str, list[Past]] = {}
    for run in sorted(past, key=lambda run: (run.row.repeats_of is not None, run.row.number)):
        points.setdefault(run.row.repeats_of or run.row.key, []).append(run)
    return find_winner([_entrant(key, runs) for key, runs in points.items()], objective)


def _next_point(spec: SweepSpec, past: Mapping[str, Past], counts: Mapping[str, int]) -> str | None:
    wanted = [key for key in _contenders(spec, past) if counts[key] < spec.repeats]
    return min(wanted, key=lambda key: counts[key], default=None)


def _contenders(spec: SweepSpec, past: Mapping[str, Past]) -> list[str]:
    """The winner and what cannot be told from it, best first, as far as they ran to their end; none but both count."""
    found = winner_of(past.values(), spec.objective)
    if found is None or not found.alike:
        return []
    keys = (found.key, *found.alike)
    return [key for key in keys if (run := past.get(key)) and run.row.ending and run.row.ending.is_success]


def _counts(study: optuna.Study) -> dict[str, int]:
    """Runs by point, whatever became of them: a repeat that failed for good is not tried with yet another seed."""
    counts: dict[str, int] = {}
    for key, trial in studies.last_attempts(study).items():
        point = trial.user_attrs.get(REPEATS_OF, key)
        counts[point] = counts.get(point, 0) + 1
    return counts


def _entrant(key: str, runs: list[Past]) -> Entrant:
    return Entrant(key, tuple(run.view.evaluations for run in runs), tuple(run.view.curve for run in runs))
