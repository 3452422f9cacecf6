"""The problems that come with grpo-ops: 200 in GSM8K's format, made by reasoning-gym's gsm_symbolic (Apache-2.0).

`python -m grpo_ops.tasks.gsm > FILE` makes them again; another count and seed make others:
`python -m grpo_ops.tasks.gsm 1000 7 > FILE`.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

COUNT, SEED = 200, 2024
#: So many more are drawn than are needed: some repeat themselves, some have no whole number as their answer.
_SPARE = 2


def gsm_problems(count: int = COUNT, seed: int = SEED) -> list[dict[str, str]]:
    """Different problems, each `{"question", "answer"}` with an answer that ends in `#### 72`."""
    import reasoning_gym

    dataset = reasoning_gym.create_dataset("gsm_symbolic", size=_SPARE * count, seed=seed)
    found: dict[str, dict[str, str]] = {}
    for problem in _problems(dataset, _SPARE * count):
        found.setdefault(problem["question"], problem)
        if len(found) == count:
            break
    return list(found.values())


def _problems(dataset: Any, size: int) -> Iterator[dict[str, str]]:
    for entry in (dataset[index] for index in range(size)):
        # The final answer of the worked solution is sometimes "36.0" where the answer is "36".
        worked = entry["metadata"]["answer_cot"].rpartition("####")[0].strip()
        if entry["answer"].lstrip("-").isdigit():
            yield {"question": entry["question"], "answer": f"{worked}\n#### {entry['answer']}"}


if __name__ == "__main__":
    for made in gsm_problems(*map(int, sys.argv[1:])):
        print(json.dumps(made, ensure_ascii=False))
