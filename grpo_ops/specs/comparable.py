"""Whether the trials of a sweep measure the same thing: an axis may change what is optimised, not what is compared."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from grpo_ops.errors import SpecError
from grpo_ops.specs.conditions import Axes
from grpo_ops.specs.paths import split_path
from grpo_ops.specs.reward import evaluation_reward_digest, reward_digest
from grpo_ops.specs.run import RunSpec

_SAY = {
    "reward": "changes what the objective 'reward' adds up, so that its trials cannot be compared; judge by "
    "objective = 'eval_reward', and give the reward an eval_weight, which evaluations use instead of its weight",
    "eval_reward": "changes what eval_reward adds up, so that its trials cannot be compared; give the reward an "
    "eval_weight, which evaluations use instead of its weight (0 leaves it out of them)",
}


def comparability_faults(
    axes: Axes, objective: str, run: RunSpec, put: Callable[[Mapping[str, Any]], RunSpec]
) -> Iterator[str]:
    """One sentence for each axis that changes what the objective measures from trial to trial.

    put: the run with parameters put in; values that make no valid run are somebody else's to name.
    """
    digest = reward_digest if objective == "reward" else evaluation_reward_digest
    for path, (values, whole) in axes.items():
        if split_path(path)[0] != "rewards":
            continue
        undrawn = [run] if values.only_if else []
        drawn = _runs(path, values.values(whole), put)
        if len({digest(trial.rewards) for trial in (*undrawn, *drawn)}) > 1:
            yield f"space.{path}: {_SAY[objective]}"


def _runs(path: str, values: Sequence[Any], put: Callable[[Mapping[str, Any]], RunSpec]) -> Iterator[RunSpec]:
    for value in values:
        with contextlib.suppress(SpecError):
            yield put({path: value})
