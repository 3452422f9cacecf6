"""What each generated scenario should be called, in the words of each tool. An empty set: the tool has no word for it.

Wherever a tool has one word for several failures, that word counts as right for each of them.
"""

from collections.abc import Collection
from dataclasses import dataclass

from grpo_ops.law.diagnostics import NO_SIGNAL, Symptom

HEALTHY = "healthy"


@dataclass(frozen=True)
class Truth:
    """The right names by tool."""

    ours: frozenset[str]
    rldoctor: frozenset[str]
    rlprobe: frozenset[str]

    def of(self, tool: str) -> frozenset[str]:
        return {"ours": self.ours, "rldoctor": self.rldoctor, "rlprobe": self.rlprobe}[tool]


def _truth(ours: Collection[Symptom], rldoctor: Collection[str] = (), rlprobe: Collection[str] = ()) -> Truth:
    return Truth(frozenset(symptom.value for symptom in ours), frozenset(rldoctor), frozenset(rlprobe))


_ANY_ADVANTAGE = ("advantage_collapse: saturated", "advantage_collapse: too_hard", "advantage_collapse: mixed")
_DEGENERATE = ("DEGENERATE_GROUPS", "REWARD_STD_DEATH")
_ENTROPY = _truth([Symptom.ENTROPY_COLLAPSE], ["entropy_collapse"], ["ENTROPY_COLLAPSE"])
_KL = _truth([Symptom.KL_GROWTH], ["kl_drift"], ["KL_BLOWUP"])
_CLIP = _truth([Symptom.CLIP_SATURATION], ["clip_saturation"], ["CLIP_SATURATION"])
_GRADIENT = _truth([Symptom.UNSTABLE_STEP_SIZE, Symptom.NOT_FINITE], ["gradient_pathology"], ["GRAD_PATHOLOGY"])
_TRUNCATION = _truth([Symptom.TRUNCATION], ["length_pathology"], ["TRUNCATION_STARVE"])
_LENGTH = _truth([Symptom.LENGTH_HACKING], ["length_pathology"], ["REWARD_HACK_LENGTH"])
_FORM = _truth([Symptom.COMPONENT_DOMINANCE], ["reward_composition"], ["FORMAT_GAMING"])

TRUTHS = {
    "rldoctor/entropy_collapse": _ENTROPY,
    "rldoctor/saturated_groups": _truth([Symptom.ALL_CORRECT], _ANY_ADVANTAGE[:1], _DEGENERATE),
    "rldoctor/too_hard": _truth([Symptom.ALL_WRONG], _ANY_ADVANTAGE[1:2], _DEGENERATE),
    "rldoctor/reward_hacking": _truth([Symptom.REWARD_HACKING], ["reward_hacking"]),
    "rldoctor/length_hacking": _LENGTH,
    "rldoctor/truncation": _TRUNCATION,
    "rldoctor/kl_blowup": _KL,
    "rldoctor/clip_saturation": _CLIP,
    "rldoctor/grad_spikes": _GRADIENT,
    "rldoctor/plateau": _truth([Symptom.PLATEAU], ["plateau"]),
    "rldoctor/format_domination": _FORM,
    "rlprobe/kl_blowup": _KL,
    "rlprobe/entropy_collapse": _ENTROPY,
    "rlprobe/reward_hack_length": _LENGTH,
    "rlprobe/format_gaming": _FORM,
    "rlprobe/clip_saturation": _CLIP,
    "rlprobe/degenerate_groups": _truth(NO_SIGNAL, _ANY_ADVANTAGE, ["DEGENERATE_GROUPS"]),
    "rlprobe/adv_collapse": _truth([Symptom.ADVANTAGE_COLLAPSE], _ANY_ADVANTAGE, ["ADV_COLLAPSE"]),
    "rlprobe/value_divergence": _truth([Symptom.VALUE_DIVERGENCE], (), ["VALUE_DIVERGENCE"]),
    "rlprobe/grad_pathology": _GRADIENT,
    "rlprobe/truncation_starve": _TRUNCATION,
    "rlprobe/repetition_spiral": _truth([Symptom.REPETITION], (), ["REPETITION_SPIRAL"]),
    "rlprobe/reward_std_death": _truth(NO_SIGNAL, _ANY_ADVANTAGE, _DEGENERATE),
    "rlprobe/ref_drift_asymmetry": _truth([Symptom.KL_CONCENTRATION], (), ["REF_POLICY_DRIFT_ASYMMETRY"]),
    "rlprobe/throughput_rot": _truth([Symptom.SLOWDOWN], (), ["THROUGHPUT_ROT"]),
}
