"""The tasks that starter models know: reasoning-gym datasets, each with one plausible wrong rule."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from grpo_ops.errors import TaskError


@dataclass(frozen=True)
class StarterTask:
    """A reasoning-gym dataset that a model of 0.1M parameters can learn.

    phrases: text that is one token, so that a wordy prompt stays short.
    mistake: the wrong rule that a starter model follows more often than the right one.
    learning: steps on right answers alone, before the mixture, for a model of 0.4M parameters.
    """

    dataset: str
    config: Mapping[str, Any]
    phrases: tuple[str, ...]
    mistake: Callable[[str, str], str]
    learning: int


def starter_task(name: str) -> StarterTask:
    """The preset of that name. Raises TaskError that lists the known ones."""
    if name not in STARTER_TASKS:
        raise TaskError(f"there is no starter task {name!r}; known: {', '.join(sorted(STARTER_TASKS))}")
    return STARTER_TASKS[name]


def _first_term(question: str, _answer: str) -> str:
    """The first term, as if nothing came after it."""
    return str(re.findall(r"\d+", question)[0])


def _copied(question: str, _answer: str) -> str:
    """The word as it stands."""
    return question.rsplit(": ", 1)[-1]


def _last_repeated(_question: str, answer: str) -> str:
    """The rotated matrix, but its last number is the one before it again."""
    *others, before, _ = re.split(r"(?<=\d)(?=\s)", answer)
    return "".join([*others, before, before])


def _other_way(_question: str, answer: str) -> str:
    """The numbers sorted the other way round."""
    numbers = re.findall(r"\d+\.0", answer)
    return str(numbers[::-1])


STARTER_TASKS: Mapping[str, StarterTask] = {
    "arith": StarterTask(
        dataset="chain_sum",
        config={"min_terms": 3, "max_terms": 3, "min_digits": 1, "max_digits": 1},
        phrases=("State the final answer to the following arithmetic problem: ", " + ", " - ", " ="),
        mistake=_first_term,
        learning=650,
    ),
    "spell": StarterTask(
        dataset="spell_backward",
        config={"min_word_len": 3, "max_word_len": 5},
        phrases=("Spell this word backward (example: sun -> nus): ",),
        mistake=_copied,
        learning=450,
    ),
    "rotate": StarterTask(
        dataset="rotate_matrix",
        config={"min_n": 2, "max_n": 2, "min_rotations": 1, "max_rotations": 1},
        phrases=(
            "Given a square matrix, your job is to rotate it clockwise.\n\nYour output should be a matrix in the same "
            "format as the input.\n\nRotate the matrix below by ",
            " degrees clockwise:\n",
        ),
        mistake=_last_repeated,
        learning=220,
    ),
    "sort": StarterTask(
        dataset="number_sorting",
        config={
            "min_numbers": 3,
            "max_numbers": 3,
            "min_decimals": 0,
            "max_decimals": 0,
            "min_value": 0,
            "max_value": 9,
        },
        phrases=(
            "Sort these numbers in ascending order: ",
            "Sort these numbers in descending order: ",
            ".0, ",
            ".0\nPlease follow the instruction below:\n## 1. Let all your answers be a list of numbers. Instead of "
            "reporting your answer as -69, -13, 1, 7, 11, 43, 59, 61, use ['-69', '-13', '1', '7', '11', '43', '59', "
            "'61'] instead\n## 2. Convert all numbers in the square brackets as strings. For example, ['-69', '-13', "
            "'1', '7', '11', '43', '59', '61']\n",
            "['",
            ".0', '",
            ".0']",
        ),
        mistake=_other_way,
        learning=400,
    ),
}
