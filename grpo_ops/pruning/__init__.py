"""When to stop a trial: decide() is pure; LawPruner, the Optuna adapter, is imported on use."""

from typing import TYPE_CHECKING, Any

from grpo_ops.pruning.ahead import forecast_trial
from grpo_ops.pruning.decide import decide
from grpo_ops.pruning.reason import PruneReason
from grpo_ops.pruning.rule import PruneRule
from grpo_ops.pruning.types import DECISION_ATTRIBUTE, PruneDecision, TrialState, TrialView

if TYPE_CHECKING:
    from grpo_ops.pruning.lawpruner import LawPruner

__all__ = [
    "DECISION_ATTRIBUTE",
    "LawPruner",
    "PruneDecision",
    "PruneReason",
    "PruneRule",
    "TrialState",
    "TrialView",
    "decide",
    "forecast_trial",
]


def __getattr__(name: str) -> Any:
    if name == "LawPruner":
        from grpo_ops.pruning.lawpruner import LawPruner

        return LawPruner
    raise AttributeError(f"module 'grpo_ops.pruning' has no attribute {name!r}")
