"""One short name for prompts, decoding and rewards: evaluations of different digests are not comparable."""

import hashlib
import json
from collections.abc import Sequence

from grpo_ops.specs import EvaluationSpec
from grpo_ops.tasks import Reward, Row


def evaluation_digest(
    rows: Sequence[Row], rewards: Sequence[Reward], spec: EvaluationSpec, max_completion_length: int
) -> str:
    """32 hexadecimal digits: the same for the same prompts in the same order, decoding and rewards."""
    content = {
        "prompts": [row.id for row in rows],
        "decoding": _decoding(spec),
        "max_completion_length": max_completion_length,
        "rewards": [_reward(reward) for reward in rewards],
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:32]


def _decoding(spec: EvaluationSpec) -> dict[str, float]:
    if spec.temperature == 0:
        return {"temperature": 0.0}
    # Batches draw their random numbers in turn, so the batch size is part of what is sampled.
    return {name: getattr(spec, name) for name in ("temperature", "top_p", "seed", "batch_size")}


def _reward(reward: Reward) -> list[object]:
    config = {name: value for name, value in reward.config.items() if name != "task"}
    return [reward.source, reward.eval_weight, config]
