"""What can be known before a model is loaded: the spec against its task, rewards, tokenizer, model and machine."""

from grpo_ops.preflight.check import check, examine
from grpo_ops.preflight.check_sweep import check_sweep, examine_sweep
from grpo_ops.preflight.code import code_named_by, warnings
from grpo_ops.preflight.ends import EndTokens
from grpo_ops.preflight.findings import Findings

__all__ = [
    "EndTokens",
    "Findings",
    "check",
    "check_sweep",
    "code_named_by",
    "examine",
    "examine_sweep",
    "warnings",
]
