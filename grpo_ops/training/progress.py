"""How far a run has come. Light: the result of a trainer that never got to import torch is made of it as well."""

from collections.abc import Mapping
from dataclasses import dataclass

from grpo_ops.training.history import History, Saved


@dataclass
class Progress:
    """step: last one that was done. stop: why the run ends early. last, best: newest checkpoints of the two roles."""

    step: int = 0
    stop: Mapping[str, str] | None = None
    last: Saved | None = None
    best: Saved | None = None

    def resume(self, history: History) -> None:
        """Take over what earlier attempts have done."""
        self.step, self.last, self.best = history.step, history.resume, history.best
