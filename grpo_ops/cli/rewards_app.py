"""`grpo-ops rewards check FILE`."""

from typing import Annotated

import typer

from grpo_ops.cli.failures import needs, one_sentence
from grpo_ops.cli.options import AsJson, Settings, SpecFile

rewards_app = typer.Typer(no_args_is_help=True, help="Look at the rewards of a spec before a run does.")


@rewards_app.callback()
def _group() -> None:
    """With a single command, Typer would make the group that command."""


@rewards_app.command("check")
@one_sentence
def check(
    file: SpecFile,
    set_: Settings = None,
    rows: Annotated[int, typer.Option("--rows", min=1, metavar="N", help="Prompts of the task that are tried.")] = 4,
    json: AsJson = False,
) -> None:
    """Score right, wrong, empty, very long, foreign and adversarial completions. Exit code 1: it would spoil a run."""
    needs("train", "transformers", "reasoning_gym")
    from grpo_ops.cli.rewards import check_command

    raise typer.Exit(check_command(file, tuple(set_ or ()), rows, json))
