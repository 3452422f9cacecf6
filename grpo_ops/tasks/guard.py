"""A reward as TRL calls it: named, weighted, guarded, and counted."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from grpo_ops.tasks.scorer import Scorer, Scores
from grpo_ops.tasks.worker import Worker

#: `(prompts, completions, columns) -> Scores`, in this process or in another.
Scoring: TypeAlias = Callable[[Sequence[Any], Sequence[Any], Mapping[str, Any]], Scores]


class Tally:
    """Counts, over rewards that are called in turn on the same completions, those that none of them scored."""

    def __init__(self, rewards: int) -> None:
        self.rewards = rewards
        self._seen: list[list[float | None]] = []
        self._completions: Any = None

    def add(self, completions: Sequence[Any], values: list[float | None]) -> int:
        """How many completions no reward has scored, once the last one has been called; 0 before that."""
        if completions is not self._completions:
            self._completions, self._seen = completions, []
        self._seen.append(values)
        if len(self._seen) < self.rewards:
            return 0
        unscorable = sum(all(value is None for value in row) for row in zip(*self._seen, strict=True))
        self._completions, self._seen = None, []
        return unscorable


class Reward:
    """A reward function as TRL calls it. `__name__` is its log name, `weight` its share in the sum that is optimised.

    source: where the function is from, as `package.module:function`. eval_weight: its share in evaluations, None for
    `weight`. worker: the process in which it is called, None for this one. tally: shared with the other rewards of
    a run. `unscored` counts its Nones, `timeouts` those that are None because its time ran out.

    Raises RewardError where the function raises, gives NaN or infinity, or not one number or None a completion.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        weight: float,
        config: dict[str, Any],
        *,
        eval_weight: float | None = None,
        source: str | None = None,
        worker: Worker | None = None,
        tally: Tally | None = None,
    ) -> None:
        self.__name__ = name
        self.weight = weight
        self.eval_weight = weight if eval_weight is None else eval_weight
        self.config = config
        self.source = stable_source(function, source or name)
        self.unscored = 0
        self.timeouts = 0
        self._worker = worker
        self._scoring: Scoring = worker or Scorer(function, name, config)
        self._tally = tally

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
        values, timeouts = self._scoring(prompts, completions, columns)
        missing = values.count(None)
        self.unscored += missing
        self.timeouts += timeouts
        counts = {
            f"rewards/{self.__name__}/unscored": missing,
            f"rewards/{self.__name__}/timeouts": timeouts,
            "rewards/unscorable": self._tally.add(completions, values) if self._tally else 0,
        }
        _log(counts, columns.get("log_metric"))
        return values

    def start(self) -> None:
        """Start the worker process, where there is one, so that it is ready when it is needed."""
        if self._worker is not None:
            self._worker.start()

    def stop(self) -> None:
        """End the worker process, where there is one."""
        if self._worker is not None:
            self._worker.stop()


def stable_source(function: Callable[..., Any], path: str) -> str:
    """`package.module:function`; `path` for what has no name of its own: a lambda, a partial, an object.

    It never holds a memory address, so that two runs of one spec agree about it.
    """
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    is_named = bool(module) and bool(name) and re.fullmatch(r"[\w.]+", str(name)) is not None
    return f"{module}:{name}" if is_named else path


def _log(counts: Mapping[str, int], log_metric: Callable[[str, float], None] | None) -> None:
    """Counts are metrics of TRL's, of steps at which there is something to count."""
    for name, count in counts.items():
        if count and log_metric is not None:
            log_metric(name, count)
