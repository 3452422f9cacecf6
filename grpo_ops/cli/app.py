"""The commands and their options."""

from pathlib import Path
from typing import Annotated

import typer

from grpo_ops.cli.failures import needs, one_sentence

app = typer.Typer(
    name="grpo-ops",
    help="Forecast, stop and promote GRPO fine-tuning runs, with Prefect, MLflow and Optuna.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
spec_app = typer.Typer(no_args_is_help=True, help="Check a spec file, or print the JSON schema of one.")
app.add_typer(spec_app, name="spec")

SpecFile = Annotated[Path, typer.Argument(metavar="FILE", help="Spec as TOML (or JSON).")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Put a value into the spec, by dotted key.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


@app.command()
@one_sentence
def train(file: SpecFile, set_: Settings = None, json: AsJson = False) -> None:
    """Run one GRPO training, or continue it where it was interrupted."""
    needs("train", "torch", "trl")
    needs("track", "mlflow")
    from grpo_ops.cli.commands import train_command

    raise typer.Exit(train_command(file, tuple(set_ or ()), json))


@app.command()
@one_sentence
def sweep(file: SpecFile, set_: Settings = None, json: AsJson = False) -> None:
    """Run a study of GRPO trainings; the pruner stops those that will not matter. Continues an interrupted one."""
    needs("train", "torch", "trl")
    needs("track", "mlflow")
    from grpo_ops.cli.commands import sweep_command

    raise typer.Exit(sweep_command(file, tuple(set_ or ()), json))


@app.command()
@one_sentence
def promote(
    file: SpecFile,
    set_: Settings = None,
    json: AsJson = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the gates; register nothing.")] = False,
) -> None:
    """Register a study's best checkpoint as the champion, if it passes the gates. Exit code 3: refused."""
    needs("track", "mlflow")
    from grpo_ops.cli.commands import promote_command

    raise typer.Exit(promote_command(file, tuple(set_ or ()), json, dry_run))


@app.command()
@one_sentence
def forecast(
    curve: Annotated[str, typer.Argument(metavar="CURVE", help="CSV, Parquet, trainer_state.json, journal, run id.")],
    horizon: Annotated[int | None, typer.Option(help="Step to forecast; default: the planned last step.")] = None,
    upto: Annotated[float | None, typer.Option(help="Use only this first share of the curve.")] = None,
    level: Annotated[float, typer.Option(help="Level of the band.")] = 0.8,
    plot: Annotated[Path | None, typer.Option(help="Also draw it into this PNG file.")] = None,
    json: AsJson = False,
) -> None:
    """Say where a reward curve will end, how sure that is, and what to do."""
    from grpo_ops.cli.forecast import forecast_command

    raise typer.Exit(forecast_command(curve, horizon, upto, level, plot, json))


@app.command()
@one_sentence
def reconcile(
    json: AsJson = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done; do nothing.")] = False,
) -> None:
    """Bring MLflow up to date from the journals, and close runs whose trainer is gone. Safe at any time."""
    needs("track", "mlflow")
    from grpo_ops.cli.commands import reconcile_command

    raise typer.Exit(reconcile_command(json, dry_run))


@spec_app.command("check")
@one_sentence
def spec_check(file: SpecFile, set_: Settings = None, json: AsJson = False) -> None:
    """Check a spec file: what it alone shows, and what its task and tokenizer show. Loads no model."""
    from grpo_ops.cli.specs import check_command

    raise typer.Exit(check_command(file, tuple(set_ or ()), json))


@spec_app.command("schema")
@one_sentence
def spec_schema(kind: Annotated[str, typer.Argument(metavar="run|sweep|promotion")]) -> None:
    """Print the JSON schema of a spec."""
    from grpo_ops.cli.specs import schema_command

    raise typer.Exit(schema_command(kind))
