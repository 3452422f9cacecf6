"""What is wrong with a run: named findings with their evidence, since when, what they cost and what to try."""

from grpo_ops.law.diagnostics.diagnose import diagnose
from grpo_ops.law.diagnostics.said import journal_diagnoses
from grpo_ops.law.diagnostics.types import CAN_BE_CRITICAL, NO_SIGNAL, Finding, Severity, Symptom

__all__ = ["CAN_BE_CRITICAL", "NO_SIGNAL", "Finding", "Severity", "Symptom", "diagnose", "journal_diagnoses"]
