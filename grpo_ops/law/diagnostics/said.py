"""What a journal's lines say of a run's health."""

from collections.abc import Iterable, Mapping
from typing import Any

from grpo_ops.law.diagnostics.types import Finding, Symptom


def journal_diagnoses(entries: Iterable[Mapping[str, Any]]) -> tuple[Finding, ...]:
    """The diagnoses of a run in the order in which they came up; of one that got worse the last word counts."""
    found: dict[Symptom, Finding] = {}
    for entry in entries:
        if entry["kind"] == "diagnosis":
            finding = Finding.of(entry)
            found[finding.symptom] = finding
    return tuple(found.values())
