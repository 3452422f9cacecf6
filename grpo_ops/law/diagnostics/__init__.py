"""What is wrong with a run: named findings with their evidence, since when, what they cost and what to try."""

from grpo_ops.law.diagnostics.diagnose import diagnose
from grpo_ops.law.diagnostics.types import NO_SIGNAL, Finding, Severity, Symptom

__all__ = ["NO_SIGNAL", "Finding", "Severity", "Symptom", "diagnose"]
