"""One name for each metric, and the names that TRL, verl and other trainers log it under.

TRL's name comes first; where a step has several, the first one that is there counts.
"""

from enum import StrEnum


class Metric(StrEnum):
    """What the detectors read beside the reward."""

    REWARD_STD = "reward_std"
    ZERO_SPREAD = "frac_reward_zero_std"
    ADVANTAGE_STD = "advantage_std"
    ENTROPY = "entropy"
    KL = "kl"
    CLIPPED_UPDATES = "clip_ratio/region_mean"
    GRAD_NORM = "grad_norm"
    LOSS = "loss"
    BAD_GRADIENTS = "nan_count"
    LENGTH = "completions/mean_length"
    TRUNCATED = "completions/clipped_ratio"
    REPETITION = "repetition_rate"
    EXPLAINED_VARIANCE = "value_explained_variance"
    SAMPLING_GAP = "sampling/sampling_logp_difference/mean"
    SAMPLING_GAP_MAX = "sampling/sampling_logp_difference/max"
    STEP_TIME = "step_time"
    EVALUATION = "eval_reward"


ALIASES: dict[Metric, tuple[str, ...]] = {
    Metric.REWARD_STD: ("reward_std", "reward/std", "rewards/std", "critic/score/std", "critic/rewards/std"),
    Metric.ZERO_SPREAD: (
        "frac_reward_zero_std",
        "zero_variance_group_frac",
        "zero_var_group_frac",
        "actor/zero_advantage_frac",
        "env/all/by_group/frac_uniform",
    ),
    Metric.ADVANTAGE_STD: ("advantage_std", "adv_std", "critic/advantages/std", "advantages/std", "advantage/std"),
    Metric.ENTROPY: (
        "entropy",
        "actor/entropy",
        "actor/entropy_loss",
        "policy/entropy",
        "entropy_mean",
        "optim/entropy",
    ),
    Metric.KL: ("kl", "actor/kl_loss", "actor/ppo_kl", "critic/kl", "objective/kl", "kl_mean", "policy/kl"),
    Metric.CLIPPED_UPDATES: (
        "clip_ratio/region_mean",
        "clip_ratio",
        "actor/pg_clipfrac",
        "policy/clipfrac",
        "policy/clipfrac_avg",
        "clip_fraction",
    ),
    Metric.GRAD_NORM: ("grad_norm", "actor/grad_norm", "policy/grad_norm", "optim/grad_norm"),
    Metric.LOSS: ("loss", "actor/pg_loss", "policy_loss"),
    Metric.BAD_GRADIENTS: ("nan_count", "inf_count", "actor/grad_nan"),
    Metric.LENGTH: (
        "completions/mean_length",
        "completion_length",
        "response_length/mean",
        "response_length",
        "completion_len_mean",
    ),
    Metric.TRUNCATED: ("completions/clipped_ratio", "response_length/clip_ratio", "truncation_rate"),
    Metric.REPETITION: ("repetition_rate", "completions/repetition_rate"),
    Metric.EXPLAINED_VARIANCE: ("value_explained_variance", "critic/vf_explained_var", "explained_variance"),
    Metric.SAMPLING_GAP: ("sampling/sampling_logp_difference/mean", "training/rollout_probs_diff_mean"),
    Metric.SAMPLING_GAP_MAX: ("sampling/sampling_logp_difference/max", "training/rollout_probs_diff_max"),
    Metric.STEP_TIME: ("step_time", "perf/time_per_step", "timing_s/step", "step_time_s"),
    Metric.EVALUATION: ("eval_reward", "eval/reward", "eval/accuracy", "eval_accuracy", "eval_score", "val/test_score"),
}

COMPONENT_PREFIXES = ("rewards/", "reward_components/")
POSITION_PREFIX = "kl_positional/"

_NOT_COMPONENTS = frozenset({"mean", "std", "min", "max"})
_AUXILIARY = ("format", "length", "tag", "xml", "json", "style", "lang", "think", "repeat", "repetition")


def component(name: str) -> str | None:
    """`NAME` of `rewards/NAME/mean` (TRL) or `rewards/NAME`; None for any other metric and for spreads."""
    for prefix in COMPONENT_PREFIXES:
        if name.startswith(prefix):
            own = name.removeprefix(prefix).removesuffix("/mean")
            return None if own.rsplit("/", 1)[-1] in _NOT_COMPONENTS else own
    return None


def is_auxiliary(component_name: str) -> bool:
    """Whether a reward's name says that it judges the form of an answer and not whether it is right."""
    return any(hint in component_name.lower() for hint in _AUXILIARY)
