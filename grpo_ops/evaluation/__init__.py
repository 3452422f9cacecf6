"""A model's score on held-out prompts, always decoded alike, per prompt."""

from grpo_ops.evaluation.digest import evaluation_digest
from grpo_ops.evaluation.evaluate import evaluate

__all__ = ["evaluate", "evaluation_digest"]
