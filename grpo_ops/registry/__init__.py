"""Gates, promotion, the model's card. A refusal is a value; the alias moves last."""

from grpo_ops.registry.gates import Gate, gates, judge
from grpo_ops.registry.load import LoadedModel, load_champion
from grpo_ops.registry.promote import promote
from grpo_ops.registry.types import Base, Candidate, Champion, Evidence, GateResult, Promotion, Score

__all__ = [
    "Base",
    "Candidate",
    "Champion",
    "Evidence",
    "Gate",
    "GateResult",
    "LoadedModel",
    "Promotion",
    "Score",
    "gates",
    "judge",
    "load_champion",
    "promote",
]
