"""`grpo-ops rewards check`: the probes, what each reward gave to them, and what is odd in it."""

import dataclasses
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from grpo_ops.cli.failures import EXIT_FAILED
from grpo_ops.cli.printing import print_table, say, standard_output
from grpo_ops.errors import SpecError
from grpo_ops.home import make_quiet
from grpo_ops.specs import RunSpec, SweepSpec, load_any

if TYPE_CHECKING:
    from grpo_ops.tasks.checkup import Checkup, Examined


def check_command(file: Path, settings: tuple[str, ...], rows: int, as_json: bool) -> int:
    """Examine the rewards of a run, or of a sweep's run, on its first training prompts. Exit code 1 for a fault."""
    make_quiet()
    run = _run_of(file, settings)
    from grpo_ops.tasks import load_rewards, load_task
    from grpo_ops.tasks.doctor import examine

    task = load_task(run.task, run.evaluation)
    rewards = load_rewards(run.rewards, task, allow_import_paths=True)
    logging.getLogger("grpo_ops.tasks").setLevel(logging.ERROR)  # a timeout is a finding here
    try:
        checkup = examine(rewards, task.train[:rows])
    finally:
        for reward in rewards:
            reward.stop()
    if as_json:
        print(json.dumps(_document(checkup), indent=1))
    else:
        _print(standard_output(), checkup)
    return 0 if checkup.is_healthy else EXIT_FAILED


def _run_of(file: Path, settings: tuple[str, ...]) -> RunSpec:
    spec = load_any(file, settings)
    if isinstance(spec, SweepSpec):
        return spec.run
    if not isinstance(spec, RunSpec):
        raise SpecError(str(file), [f"is a {type(spec).__name__}, which has no rewards; name a run or a sweep"])
    return spec


def _print(console: Console, checkup: "Checkup") -> None:
    columns = _columns(checkup)
    table = Table(box=None, pad_edge=False)
    table.add_column("completion")
    for each in columns:
        table.add_column(each.name, justify="right")
    for answers in zip(*(each.answers for each in columns), strict=True):
        table.add_row(answers[0].probe.name, *(_shown(answer.mean) for answer in answers))
    print_table(console, table)
    say(console, "", *(f"{each.name}: {each.seconds:.2g} s a call" for each in checkup.rewards))
    say(console, *(f"{'fault' if f.is_fault else 'note'}: {f}" for f in checkup.findings))
    if not checkup.findings:
        say(console, "nothing odd was found")


def _columns(checkup: "Checkup") -> Sequence["Examined"]:
    return checkup.rewards if checkup.total in checkup.rewards else (*checkup.rewards, checkup.total)


def _shown(mean: float | None) -> str:
    return "-" if mean is None else f"{mean:.3g}"


def _document(checkup: "Checkup") -> dict[str, Any]:
    return {
        "healthy": checkup.is_healthy,
        "rewards": [_reward_document(each) for each in _columns(checkup)],
        "findings": [dataclasses.asdict(finding) for finding in checkup.findings],
    }


def _reward_document(examined: "Examined") -> dict[str, Any]:
    answers = [
        {"completion": a.probe.name, "kind": a.probe.kind, "mean": a.mean, "values": a.values, "error": a.error}
        for a in examined.answers
    ]
    return {"name": examined.name, "seconds_a_call": examined.seconds, "completions": answers}
