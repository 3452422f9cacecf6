"""The rewards that come with grpo-ops, in TRL's signature: one number a completion, None where it does not apply.

A reward function is called as `f(prompts, completions, completion_ids=..., **columns)`, where `columns` are the
columns of the rows (`answer`, `id`, ...), each a list with one value a completion. A parameter called `task` is given
the whole Task, once. What a spec says under `config` is passed by keyword.
"""

import re
import threading
from collections.abc import Sequence
from typing import Any

from grpo_ops.errors import TaskError
from grpo_ops.tasks.types import Task, last_text

THINK_AND_ANSWER = r"\s*<think>.*?</think>\s*<answer>.*?</answer>\s*"


def reasoning_gym_reward(
    prompts: Sequence[Any],
    completions: Sequence[Any],
    *,
    answer: Sequence[str],
    metadata: Sequence[Any],
    task: Task,
    tag: str | None = None,
    **_: Any,
) -> list[float | None]:
    """The dataset's own score, 0 to 1. `tag`: score only what stands in the last `<tag>...</tag>`.

    None for the rows of a mixture whose part has no score of its own.
    """
    if task.score is None:
        raise TaskError("the reward 'reasoning_gym' needs a task whose source is reasoning_gym or starter")
    entries = [
        {"question": last_text(prompt), "answer": right, "metadata": known}
        for prompt, right, known in zip(prompts, answer, metadata, strict=True)
    ]
    texts = [answer_text(completion, tag) for completion in completions]
    scores = [task.score(text, entry) for text, entry in zip(texts, entries, strict=True)]
    return [None if score is None else float(score) for score in scores]


def exact_match(
    prompts: Sequence[Any],
    completions: Sequence[Any],
    *,
    answer: Sequence[str],
    tag: str | None = None,
    ignore_case: bool = False,
    **_: Any,
) -> list[float]:
    """1 where the completion is the answer, up to white space at its ends; else 0."""
    fold = str.casefold if ignore_case else str
    texts = [fold(answer_text(completion, tag)) for completion in completions]
    return [float(text == fold(str(right).strip())) for text, right in zip(texts, answer, strict=True)]


def math_verify_reward(
    prompts: Sequence[Any], completions: Sequence[Any], *, answer: Sequence[str], **_: Any
) -> list[float | None]:
    """1 where the completion equals the answer as mathematics, else 0; None where the answer is not mathematics."""
    return [_verified(last_text(completion), str(right)) for completion, right in zip(completions, answer, strict=True)]


def format_reward(
    prompts: Sequence[Any], completions: Sequence[Any], *, pattern: str = THINK_AND_ANSWER, **_: Any
) -> list[float]:
    """1 where the whole completion matches the regular expression (`.` also matches a line's end), else 0."""
    compiled = re.compile(pattern, re.DOTALL)
    return [float(compiled.fullmatch(last_text(completion)) is not None) for completion in completions]


def length_reward(
    prompts: Sequence[Any],
    completions: Sequence[Any],
    *,
    completion_ids: Sequence[Sequence[int]],
    target: int = 64,
    **_: Any,
) -> list[float]:
    """1 up to `target` tokens, from there falling evenly to 0 at twice as many."""
    return [min(1.0, max(0.0, 2.0 - len(ids) / target)) for ids in completion_ids]


def answer_text(completion: Any, tag: str | None = None) -> str:
    """The completion's text, or what stands in its last `<tag>...</tag>` (nothing where there is none)."""
    text = last_text(completion)
    if tag is not None:
        found = re.findall(rf"<{re.escape(tag)}>(.*?)</{re.escape(tag)}>", text, re.DOTALL)
        text = found[-1] if found else ""
    return text.strip()


def _verified(text: str, right: str) -> float | None:
    from math_verify import parse, verify

    # math-verify's time limits are alarm signals, which only the main thread may set.
    limit = 5 if threading.current_thread() is threading.main_thread() else None
    gold = parse(right, parsing_timeout=limit)
    if not gold:
        return None
    return float(verify(gold, parse(text, parsing_timeout=limit), timeout_seconds=limit))
