"""Measuring a close call: the same prompts once more with another sampling seed, before the decision is made again.

The trainer answers after its next logged step, so the answer comes from weights that are a step or so further than
those of the evaluation which it is merged with: little against the noise of sampling, whose variance it halves.
"""

from typing import Any

from grpo_ops.curve import Evaluation
from grpo_ops.journal import Entry
from grpo_ops.specs import EvaluationSpec

_PREFIX = "close-call-"


def question_about(evaluation: Evaluation, spec: EvaluationSpec) -> dict[str, Any] | None:
    """What RUN/ask.json is to say: `{id, prompts, seed}`; None for greedy decoding, which would say the same again.

    The seed is the same for all trials, so that two that were both measured are paired in this as well.
    """
    if spec.temperature == 0:
        return None
    return {"id": f"{_PREFIX}{evaluation.step}", "prompts": list(evaluation.prompt_ids), "seed": spec.seed + 1}


def answered_step(entry: Entry) -> int | None:
    """The step of the evaluation that this journal line adds to; None where it answers no such question."""
    ask = entry.get("ask")
    if entry["kind"] != "evaluation" or not isinstance(ask, str) or not ask.startswith(_PREFIX):
        return None
    return int(ask.removeprefix(_PREFIX))


def merged(first: Evaluation, more: Evaluation) -> Evaluation:
    """Each prompt's mean outcome over both; a prompt that only one of them scored keeps that score.

    >>> a, b = Evaluation(10, (1.0, 0.0), ("p", "q"), "d"), Evaluation(11, (0.0, None), ("p", "q"), "e")
    >>> merged(a, b).outcomes
    (0.5, 0.0)
    """
    other = dict(zip(more.prompt_ids, more.outcomes, strict=True))
    pairs = ((outcome, other.get(name)) for name, outcome in zip(first.prompt_ids, first.outcomes, strict=True))
    return Evaluation(first.step, tuple(_mean(*pair) for pair in pairs), first.prompt_ids, first.digest)


def _mean(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return (one + other) / 2
