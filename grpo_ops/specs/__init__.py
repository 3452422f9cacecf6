"""What a person writes: RunSpec, SweepSpec, PromotionSpec. TOML in, JSON out, every fault named."""

from grpo_ops.specs.data import TaskPart, TaskSpec
from grpo_ops.specs.distribution import Distribution
from grpo_ops.specs.grpo import OWNED, GRPOSettings, LoraSettings
from grpo_ops.specs.kinds import KINDS, guess_kind
from grpo_ops.specs.launch import LaunchSpec
from grpo_ops.specs.load import load_any, load_spec, read_table, with_settings
from grpo_ops.specs.promotion import PromotionSpec
from grpo_ops.specs.reward import RewardSpec
from grpo_ops.specs.rollouts import RolloutSpec
from grpo_ops.specs.run import RunSpec
from grpo_ops.specs.searched import Space
from grpo_ops.specs.searchers import EXHAUSTIVE, PRUNERS, SAMPLERS, PrunerSpec
from grpo_ops.specs.sweep import SweepSpec
from grpo_ops.specs.task import CheckpointSpec, EvaluationSpec, ModelSpec, StoppingSpec

__all__ = [
    "EXHAUSTIVE",
    "KINDS",
    "OWNED",
    "PRUNERS",
    "SAMPLERS",
    "CheckpointSpec",
    "Distribution",
    "EvaluationSpec",
    "GRPOSettings",
    "LaunchSpec",
    "LoraSettings",
    "ModelSpec",
    "PromotionSpec",
    "PrunerSpec",
    "RewardSpec",
    "RolloutSpec",
    "RunSpec",
    "Space",
    "StoppingSpec",
    "SweepSpec",
    "TaskPart",
    "TaskSpec",
    "guess_kind",
    "load_any",
    "load_spec",
    "read_table",
    "with_settings",
]
