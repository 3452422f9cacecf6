"""The words that TRL and transformers know for settings that are a choice (a test asks them whether they do)."""

from typing import Literal, TypeAlias

LossType: TypeAlias = Literal["grpo", "bnpo", "dr_grpo", "dapo", "cispo", "sapo", "luspo", "vespo"]
ScaleRewards: TypeAlias = Literal["group", "batch", "none"]
ImportanceSamplingLevel: TypeAlias = Literal["token", "sequence"]
Aggregation: TypeAlias = Literal["sum_then_normalize", "normalize_then_sum"]
#: Without reduce_lr_on_plateau and greedy: they go by transformers' own evaluation, which GRPO runs here do not have.
Scheduler: TypeAlias = Literal[
    "linear", "cosine", "cosine_with_restarts", "polynomial", "constant", "constant_with_warmup", "inverse_sqrt",
    "cosine_with_min_lr", "cosine_warmup_with_min_lr", "warmup_stable_decay",
]  # fmt: skip
Optimizer: TypeAlias = Literal[
    "adamw_torch", "adamw_torch_fused", "adamw_torch_xla", "adamw_torch_npu_fused", "adamw_torch_4bit",
    "adamw_torch_8bit", "adamw_anyprecision", "adamw_bnb_8bit", "adamw_8bit", "paged_adamw_32bit", "paged_adamw_8bit",
    "stable_adamw", "adafactor", "adagrad", "sgd", "rmsprop", "rmsprop_bnb", "rmsprop_bnb_8bit", "rmsprop_bnb_32bit",
    "ademamix", "ademamix_8bit", "paged_ademamix_32bit", "paged_ademamix_8bit",
    "lion_32bit", "lion_8bit", "paged_lion_32bit", "paged_lion_8bit",
    "galore_adamw", "galore_adamw_8bit", "galore_adafactor", "galore_adamw_layerwise", "galore_adamw_8bit_layerwise",
    "galore_adafactor_layerwise", "apollo_adamw", "apollo_adamw_layerwise",
    "lomo", "adalomo", "grokadamw", "schedule_free_radam", "schedule_free_adamw", "schedule_free_sgd",
]  # fmt: skip
