"""What can be known before a model is loaded: the spec against its task, rewards, tokenizer, model and machine."""

from grpo_ops.preflight.check import check
from grpo_ops.preflight.check_sweep import check_sweep
from grpo_ops.preflight.code import code_named_by, warnings

__all__ = ["check", "check_sweep", "code_named_by", "warnings"]
