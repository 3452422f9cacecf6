"""examine(): what rewards give to completions that are right, wrong, empty or out to get a reward."""

import time
from collections.abc import Sequence
from typing import Any

from grpo_ops.errors import RewardError
from grpo_ops.tasks.checkup import Answer, Checkup, Examined
from grpo_ops.tasks.findings import call_findings, level_findings
from grpo_ops.tasks.guard import Reward
from grpo_ops.tasks.probes import Probe, probes
from grpo_ops.tasks.types import Row

SUM = "sum by weight"
_CHARACTERS_A_TOKEN = 4


def examine(rewards: Sequence[Reward], rows: Sequence[Row]) -> Checkup:
    """Call each of `rewards` twice with every probe on `rows`.

    `completion_ids`, which some rewards measure length by, are one for every four characters: no tokenizer is loaded.
    An error of a reward is a finding. Accepting an empty answer, or never making a difference, is a fault of the sum
    of all rewards alone: the part that watches over length or format may do either.
    """
    asked = probes(rows)
    examined = tuple(
        Examined(reward.__name__, tuple(_ask(reward, rows, probe) for probe in asked)) for reward in rewards
    )
    total = _total(rewards, examined) if len(rewards) > 1 else examined[0]
    found = [finding for each in examined for finding in call_findings(each)]
    found += [finding for each in examined for finding in level_findings(each, is_all=each is total)]
    found += level_findings(total, is_all=True) if len(rewards) > 1 else []
    return Checkup(examined, total, tuple(found))


def _ask(reward: Reward, rows: Sequence[Row], probe: Probe) -> Answer:
    before = reward.timeouts
    try:
        values, first = _timed(reward, rows, probe)
        timeouts = reward.timeouts - before
        again, second = (values, first) if timeouts else _timed(reward, rows, probe)
    except RewardError as error:
        return Answer(probe, (None,) * len(rows), error=str(error))
    # The first call may have started a process, or imported what it needs.
    return Answer(probe, tuple(values), min(first, second), None, timeouts, values == again)


def _timed(reward: Reward, rows: Sequence[Row], probe: Probe) -> tuple[list[float | None], float]:
    prompts = [row.prompt for row in rows]
    completions = [_completion(row, text) for row, text in zip(rows, probe.texts, strict=True)]
    columns = _columns(rows, probe)
    started = time.perf_counter()
    values = reward(prompts, completions, **columns)
    return values, time.perf_counter() - started


def _completion(row: Row, text: str) -> Any:
    """As a trainer has it: text for a prompt that is text, messages for one that is messages."""
    return text if isinstance(row.prompt, str) else [{"role": "assistant", "content": text}]


def _columns(rows: Sequence[Row], probe: Probe) -> dict[str, Any]:
    fields = [row.fields() for row in rows]
    columns: dict[str, Any] = {name: [row[name] for row in fields] for name in fields[0] if name != "prompt"}
    ids = [list(range(-(-len(text) // _CHARACTERS_A_TOKEN))) for text in probe.texts]
    return {**columns, "completion_ids": ids, "trainer_state": None, "log_extra": _ignore, "log_metric": _ignore}


def _ignore(*_: Any, **__: Any) -> None:
    """Nobody logs here."""


def _total(rewards: Sequence[Reward], examined: Sequence[Examined]) -> Examined:
    """As TRL adds them up: a value that is None adds nothing, and where all are None there is no sum."""

    def added(values: Sequence[float | None]) -> float | None:
        parts = [reward.weight * value for reward, value in zip(rewards, values, strict=True) if value is not None]
        return sum(parts) if parts else None

    answers = [
        Answer(found[0].probe, tuple(added(row) for row in zip(*(a.values for a in found), strict=True)))
        for found in zip(*(each.answers for each in examined), strict=True)
    ]
    return Examined(SUM, tuple(answers))
