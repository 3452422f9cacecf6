"""The nouns of a promotion: a candidate, the champion it must beat, a gate's verdict, the outcome."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from grpo_ops.specs import PromotionSpec


@dataclass(frozen=True, slots=True)
class Score:
    """A held-out evaluation as the registry keeps it. digest: scores of different digests are not comparable."""

    mean: float
    standard_error: float
    prompts: int
    digest: str

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.standard_error:.3f} on {self.prompts} prompts"


@dataclass(frozen=True, slots=True)
class Base:
    """The model that an adapter belongs to.

    id: as the spec named it. path: where it lay when the adapter was trained, None on the hub. hash: SHA-256 over its
    weights, None where they are not on this machine.
    """

    id: str
    revision: str | None = None
    path: str | None = None
    hash: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A checkpoint that may be promoted, with all that speaks for and against it.

    baseline: mean evaluation before training, on the same prompts; None where there was none. files: name to bytes.
    law: `law.json` of its run. forecast: mean, low, high that were forecast. outcome: the reward at the end.
    """

    model_id: str
    run_id: str
    run_key: str
    study: str
    step: int
    sha256: str
    content: str
    score: Score
    baseline: float | None
    ending: str | None
    reason: str
    nonfinite: str
    base: Base
    is_adapter: bool
    files: Mapping[str, int]
    params: Mapping[str, str] = field(default_factory=dict)
    law: Mapping[str, Any] = field(default_factory=dict)
    forecast: Mapping[str, float] = field(default_factory=dict)
    outcome: float | None = None

    @property
    def megabytes(self) -> float:
        return sum(self.files.values()) / 1e6


@dataclass(frozen=True, slots=True)
class Champion:
    """The version that holds the alias now."""

    version: str
    run_key: str
    sha256: str
    score: Score | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that a gate may look at."""

    spec: PromotionSpec
    candidate: Candidate
    champion: Champion | None


@dataclass(frozen=True, slots=True)
class GateResult:
    """A gate's verdict, and why, in one sentence."""

    name: str
    passed: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class Promotion:
    """What came of a promotion; a refusal is a value.

    status: `promoted`; `refused` (the gates that failed say why); `already` (the best checkpoint is the champion).
    version: the new or present champion's, None where nothing is registered (refused, dry run). previous: the champion
    before. passed_over: better evaluated checkpoints that a gate refused, each a sentence.
    """

    status: Literal["promoted", "refused", "already"]
    sentence: str
    model: str
    alias: str
    study: str
    version: str | None = None
    previous: str | None = None
    gates: tuple[GateResult, ...] = ()
    candidate: Candidate | None = None
    passed_over: tuple[str, ...] = ()
