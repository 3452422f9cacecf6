"""What pre-flight found: faults that refuse a run, warnings that do not, and the tokens that end a completion."""

from collections.abc import Iterable
from dataclasses import dataclass

from grpo_ops.preflight.ends import EndTokens


@dataclass(frozen=True, slots=True)
class Findings:
    """faults and warnings: one sentence each. ends: None where the model's tokenizer cannot be had."""

    faults: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    ends: EndTokens | None = None

    @classmethod
    def of(cls, faults: Iterable[str], warnings: Iterable[str] = (), ends: EndTokens | None = None) -> "Findings":
        """Findings without repetitions."""
        return cls(tuple(dict.fromkeys(faults)), tuple(dict.fromkeys(warnings)), ends)
