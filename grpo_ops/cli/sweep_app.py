"""`grpo-ops sweep FILE`, and what is done with a study that is there: `sweep thaw`, `sweep export`."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from grpo_ops.cli.failures import needs, one_sentence
from grpo_ops.cli.options import AsJson, Settings, SpecFile

_DEFAULT = "run"


class RunByDefault(TyperGroup):
    """A group in which a first word that names no command is the spec file of `run`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        is_known = not args or args[0] in self.commands or args[0] == "--help"
        return list(super().parse_args(ctx, args if is_known else [_DEFAULT, *args]))


sweep_app = typer.Typer(
    cls=RunByDefault,
    no_args_is_help=True,
    help="Run a study (`grpo-ops sweep FILE`), thaw a trial that it stopped, or export it. `sweep run --help` has the "
    "options of FILE.",
)

Study = Annotated[str, typer.Argument(metavar="STUDY", help="Name of the study, such as demo-3f9a.")]
Storage = Annotated[
    str | None, typer.Option("--storage", metavar="URL", help="The study's Optuna storage; default: the home's own.")
]
TRIAL = "Its number or run_key; without it the stopped trial with the best chance to beat the study's best."


@sweep_app.command(_DEFAULT)
@one_sentence
def run(file: SpecFile, set_: Settings = None, json: AsJson = False) -> None:
    """Run a study of GRPO trainings; the pruner stops those that will not matter. Continues an interrupted one."""
    needs("train", "torch", "trl")
    needs("track", "mlflow")
    from grpo_ops.cli.commands import sweep_command

    raise typer.Exit(sweep_command(file, tuple(set_ or ()), json))


@sweep_app.command()
@one_sentence
def thaw(
    study: Study,
    trial: Annotated[str | None, typer.Argument(metavar="[TRIAL]", help=TRIAL)] = None,
    storage: Storage = None,
    json: AsJson = False,
) -> None:
    """Let a stopped trial go on to its end, from its checkpoint and in the same MLflow run."""
    needs("train", "torch", "trl")
    needs("track", "mlflow")
    from grpo_ops.cli.studies import thaw_command

    raise typer.Exit(thaw_command(study, trial, storage, json))


@sweep_app.command()
@one_sentence
def export(
    study: Study,
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Where the files go.")] = Path(),
    storage: Storage = None,
    json: AsJson = False,
) -> None:
    """Write a study as a sweep file with a CSV a trial, which `forecast`, `backtest` and `replay` read."""
    needs("track", "mlflow")
    from grpo_ops.cli.studies import export_command

    raise typer.Exit(export_command(study, to, storage, json))
