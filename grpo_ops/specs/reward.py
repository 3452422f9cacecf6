"""What a completion is worth: a reward function, its weights, its time limit; when two lists of them measure alike."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from pydantic import Field

from grpo_ops.specs.base import Spec


class RewardSpec(Spec):
    """One reward function; the reward that is optimised is the sum over all, by weight."""

    name: str = Field(min_length=1)
    """A registered reward (entry point group grpo_ops.rewards) or, in a local file, `package.module:function`."""
    weight: float = 1.0
    """Factor in the sum that is optimised and logged as `reward`."""
    eval_weight: float | None = None
    """Factor in held-out evaluations, by default `weight`; 0 leaves the reward out of them. Where a sweep draws a
    weight, this is what keeps its trials comparable."""
    log_name: str | None = Field(None, pattern=r"^[A-Za-z0-9_.-]+$")
    """Name in `rewards/NAME/mean`; by default the function's own name."""
    config: dict[str, Any] = Field(default_factory=dict)
    """Keyword arguments that are passed to the reward function."""
    timeout_seconds: float | None = Field(None, ge=0)
    """Longest a call may take, in a worker process that is ended after it: what is not scored by then is None, and
    counted. 0: no limit, in the trainer's own process. Without it: 60, and 0 for exact_match, length, reasoning_gym."""
    one_by_one: bool | None = None
    """After a timeout, score each completion by itself, so that only those that block are None. Sound where a value
    depends on its own completion alone. Without it: for grpo-ops' own rewards, for no other."""

    @property
    def logged_as(self) -> str:
        """The log name: what is given, else from the name; characters that MLflow does not take become `_`."""
        return self.log_name or re.sub(r"[^A-Za-z0-9_.-]", "_", re.split(r"[:.]", self.name)[-1])

    @property
    def is_import_path(self) -> bool:
        return ":" in self.name

    @property
    def in_evaluation(self) -> float:
        """The factor in held-out evaluations."""
        return self.weight if self.eval_weight is None else self.eval_weight


def reward_faults(rewards: Iterable[RewardSpec]) -> list[str]:
    """What rewards have against each other: a log name that two of them share, weights that are all 0."""
    rewards = list(rewards)
    counts = Counter(reward.logged_as for reward in rewards)
    faults = [
        f"rewards: {count} rewards would be logged as {name!r}; give each its own log_name"
        for name, count in counts.items()
        if count > 1
    ]
    if not any(reward.weight for reward in rewards):
        faults.append("rewards: every weight is 0, so there is nothing to optimise; give one of them another")
    elif not any(reward.in_evaluation for reward in rewards):
        faults.append("rewards: every eval_weight is 0, so evaluations measure nothing; give one of them another")
    return faults


def reward_digest(rewards: Iterable[RewardSpec]) -> str:
    """16 hexadecimal digits: `reward` measures the same in two runs with equal digests. The order does not matter."""
    return _digest((reward, reward.weight) for reward in rewards)


def evaluation_reward_digest(rewards: Iterable[RewardSpec]) -> str:
    """The same for `eval_reward`: rewards that evaluations leave out do not count."""
    return _digest((reward, reward.in_evaluation) for reward in rewards if reward.in_evaluation)


def _digest(weighted: Iterable[tuple[RewardSpec, float]]) -> str:
    content = sorted(json.dumps([r.name, weight, r.config], sort_keys=True, default=str) for r, weight in weighted)
    return hashlib.sha256("\n".join(content).encode()).hexdigest()[:16]
