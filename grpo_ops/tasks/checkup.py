"""The nouns of the reward doctor: what a reward answered to a probe, and what was found."""

from dataclasses import dataclass

from grpo_ops.tasks.probes import Kind, Probe


@dataclass(frozen=True)
class Answer:
    """What a reward gave to a probe: one value a row. seconds: of one call; error: what it raised, no values then."""

    probe: Probe
    values: tuple[float | None, ...]
    seconds: float = 0.0
    error: str | None = None
    timeouts: int = 0
    is_steady: bool = True

    @property
    def mean(self) -> float | None:
        known = [value for value in self.values if value is not None]
        return sum(known) / len(known) if known else None


@dataclass(frozen=True)
class Examined:
    """A reward, or the weighted sum of all, with its answers in the order of the probes."""

    name: str
    answers: tuple[Answer, ...]

    def best(self, kind: Kind) -> float | None:
        """The highest mean over the probes of this kind, None where it gave none a value."""
        means = [a.mean for a in self.answers if a.probe.kind == kind and a.mean is not None]
        return max(means, default=None)

    @property
    def lowest(self) -> float | None:
        return min((a.mean for a in self.answers if a.mean is not None), default=None)

    @property
    def seconds(self) -> float:
        """Of one call, on average."""
        return sum(a.seconds for a in self.answers) / len(self.answers)


@dataclass(frozen=True)
class Finding:
    """One sentence about a reward. is_fault: it would spoil a training; anything else is for a person to judge."""

    reward: str
    sentence: str
    is_fault: bool

    def __str__(self) -> str:
        return f"{self.reward} {self.sentence}"


@dataclass(frozen=True)
class Checkup:
    """rewards: each on its own; total: their sum, which is what a training optimises."""

    rewards: tuple[Examined, ...]
    total: Examined
    findings: tuple[Finding, ...]

    @property
    def is_healthy(self) -> bool:
        return not any(finding.is_fault for finding in self.findings)
