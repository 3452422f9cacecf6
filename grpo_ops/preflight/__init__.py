"""What can be known before a model is loaded: the spec against its task, rewards, tokenizer, model and machine."""

from grpo_ops.preflight.check import check

__all__ = ["check"]
