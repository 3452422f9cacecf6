"""The nouns of a diagnosis: what can be wrong with a run, how bad it is, and a finding with its evidence."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from grpo_ops.law.types import or_none


class Symptom(StrEnum):
    """What a detector can name. The three kinds of missing signal look alike and need opposite cures."""

    ALL_WRONG = "no signal: all wrong"
    ALL_CORRECT = "no signal: all correct"
    IDENTICAL = "no signal: identical rewards"
    ADVANTAGE_COLLAPSE = "advantage collapse"
    VANISHING_UPDATES = "vanishing updates"
    ZERO_GRADIENT = "zero gradient"
    PLATEAU = "plateau"
    COLLAPSE = "collapse"
    OSCILLATION = "oscillation"
    REWARD_HACKING = "reward hacking"
    LENGTH_HACKING = "length hacking"
    COMPONENT_DOMINANCE = "component dominance"
    ENTROPY_COLLAPSE = "entropy collapse"
    LENGTH_COLLAPSE = "length collapse"
    TRUNCATION = "truncation"
    REPETITION = "repetition"
    KL_GROWTH = "kl growth"
    KL_CONCENTRATION = "kl concentration"
    CLIP_SATURATION = "clip saturation"
    UNSTABLE_STEP_SIZE = "unstable step size"
    NOT_FINITE = "not finite"
    STALE_ROLLOUTS = "stale rollouts"
    VALUE_DIVERGENCE = "value divergence"
    TOO_FEW_COMPLETIONS = "too few completions"
    SLOWDOWN = "slowdown"


NO_SIGNAL = frozenset({Symptom.ALL_WRONG, Symptom.ALL_CORRECT, Symptom.IDENTICAL})

#: What can become critical. All correct and plateau are missing on purpose: a run that has won is no broken one.
CAN_BE_CRITICAL = frozenset(
    {
        Symptom.ALL_WRONG,
        Symptom.IDENTICAL,
        Symptom.ZERO_GRADIENT,
        Symptom.COLLAPSE,
        Symptom.REWARD_HACKING,
        Symptom.ENTROPY_COLLAPSE,
        Symptom.LENGTH_COLLAPSE,
        Symptom.TRUNCATION,
        Symptom.KL_GROWTH,
        Symptom.CLIP_SATURATION,
        Symptom.UNSTABLE_STEP_SIZE,
        Symptom.NOT_FINITE,
        Symptom.STALE_ROLLOUTS,
    }
)


class Severity(StrEnum):
    """INFO: worth knowing. WARNING: somebody should look. CRITICAL: the run will not get well by itself."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(reversed(Severity)).index(self)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, in sentences that can be shown as they are.

    since_step: the first step at which it held. evidence: the numbers it rests on. cost: what it has cost so far.
    cost_steps: the same as a number of optimiser steps. cost_reward: reward below the run's own best, where that is
    what it costs. advice: what to try.
    """

    symptom: Symptom
    severity: Severity
    since_step: int
    evidence: str
    cost: str
    advice: str
    cost_steps: int = 0
    cost_reward: float | None = None

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """The finding that `as_dict` made `document` of; further keys are left alone."""
        known = {name: document[name] for name in cls.__dataclass_fields__}
        named = {"symptom": Symptom(document["symptom"]), "severity": Severity(document["severity"])}
        return cls(**(known | named))

    @property
    def sentence(self) -> str:
        """`collapse since step 40: The reward fell from 0.61 around step 35 to 0.2.`"""
        return f"{self.symptom} since step {self.since_step}: {self.evidence}"

    def as_dict(self) -> dict[str, Any]:
        """The finding as JSON can carry it."""
        return {
            "symptom": self.symptom.value,
            "severity": self.severity.value,
            "since_step": self.since_step,
            "evidence": self.evidence,
            "cost": self.cost,
            "cost_steps": self.cost_steps,
            "cost_reward": None if self.cost_reward is None else or_none(self.cost_reward),
            "advice": self.advice,
        }
