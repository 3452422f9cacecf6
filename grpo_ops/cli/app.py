"""The commands and their options."""

from pathlib import Path
from typing import Annotated

import typer

from grpo_ops.cli.failures import needs, one_sentence
from grpo_ops.cli.options import AsJson, Settings, SpecFile
from grpo_ops.cli.rewards_app import rewards_app
from grpo_ops.cli.sweep_app import sweep_app

app = typer.Typer(
    name="grpo-ops",
    help="Forecast, stop and promote GRPO fine-tuning runs, with Prefect, MLflow and Optuna.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
spec_app = typer.Typer(no_args_is_help=True, help="Check a spec file, or print the JSON schema of one.")
app.add_typer(sweep_app, name="sweep")
app.add_typer(spec_app, name="spec")
app.add_typer(rewards_app, name="rewards")

CURVES = (
    "A file (CSV, Parquet, JSON lines, trainer_state.json, console log), a run folder, an MLflow run id or a run key; "
    "or many at once: a folder of curves, or a sweep file. Several make a table."
)
SIBLINGS = (
    "A finished run of the same study, or a folder or sweep file of them: how those ended sets the band. "
    "May be given several times; a curve is never its own sibling."
)
HINDSIGHT = "Of finished curves: what would have been said after 10, 20, 30, 50 and 70 %, and what happened."


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
def plan(
    file: SpecFile,
    gpu: Annotated[str | None, typer.Option(metavar="NAME", help="Such as H100; CPU for starter models.")] = None,
    gpus: Annotated[int | None, typer.Option(metavar="N", help="GPUs; default: launch.processes.")] = None,
    price: Annotated[float | None, typer.Option(metavar="X", help="Price of one GPU for an hour.")] = None,
    tokens: Annotated[float | None, typer.Option(metavar="N", help="Mean length of a completion to expect.")] = None,
    training_share: Annotated[float | None, typer.Option(metavar="P", help="Share of the peak FLOP/s.")] = None,
    decoding_share: Annotated[float | None, typer.Option(metavar="P", help="Share of the bandwidth.")] = None,
    set_: Settings = None,
    json: AsJson = False,
) -> None:
    """Say what a run or sweep will take, before anything is loaded: memory, FLOPs, steps, hours, money."""
    needs("train", "torch", "transformers", "peft", "reasoning_gym")
    from grpo_ops.cli.plan import PlanOptions, plan_command

    options = PlanOptions(gpu, gpus, price, tokens, training_share, decoding_share)
    raise typer.Exit(plan_command(file, tuple(set_ or ()), options, json))


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
    curves: Annotated[list[str], typer.Argument(metavar="CURVE", help=CURVES)],
    upto: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Use only this first share of each curve.")
    ] = None,
    horizon: Annotated[
        int | None, typer.Option(metavar="STEP", help="Step to forecast; default: the planned last step.")
    ] = None,
    siblings: Annotated[list[str] | None, typer.Option(metavar="PATH", help=SIBLINGS)] = None,
    level: Annotated[float, typer.Option(metavar="P", help="Probability that the band holds.")] = 0.8,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Also draw it into FILE.png or FILE.html.")] = None,
    backtest: Annotated[bool, typer.Option("--backtest", help=HINDSIGHT)] = False,
    reward: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The reward's column in the files named.")
    ] = None,
    step: Annotated[str | None, typer.Option(metavar="COLUMN", help="The step's column in the files named.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON: an object for one curve, else a list.")] = False,
) -> None:
    """Say where reward curves will end, how sure that is, what is wrong with them, and what to do."""
    from grpo_ops.cli.forecast import forecast_command
    from grpo_ops.cli.forecast_options import ForecastOptions

    options = ForecastOptions(horizon, upto, tuple(siblings or ()), level, plot, backtest, json, reward, step)
    raise typer.Exit(forecast_command(curves, options))


@app.command()
@one_sentence
def backtest(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Curves, folders of curves, or sweep files.")],
    siblings: Annotated[
        int, typer.Option(metavar="N", help="Finished runs of its sweep that each forecast knows.")
    ] = 5,
    draws: Annotated[int, typer.Option(metavar="N", help="How often a run is drawn from each sweep.")] = 50,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the draws.")] = 0,
    level: Annotated[float, typer.Option(metavar="P", help="Probability that the band holds.")] = 0.8,
    json: Annotated[
        bool, typer.Option("--json", help="Print a JSON list: a row a source, progress and method.")
    ] = False,
) -> None:
    """Say how good early forecasts would have been on finished runs, and how good simpler ones."""
    from grpo_ops.cli.backtest import backtest_command

    raise typer.Exit(backtest_command(paths, siblings, draws, seed, level, json))


@app.command()
@one_sentence
def replay(
    sweeps: Annotated[list[Path], typer.Argument(metavar="SWEEP", help="Sweep files, or folders of them.")],
    pruners: Annotated[str, typer.Option(metavar="NAMES", help="Rules to compare, with commas, or all.")] = "all",
    workers: Annotated[str, typer.Option(metavar="N,N", help="Trials at a time; several numbers are tried.")] = "1",
    subsets: Annotated[bool, typer.Option("--subsets", help="Each replicate takes only some of the trials.")] = False,
    replicates: Annotated[int, typer.Option(metavar="N", help="Studies for each sweep and rule.")] = 100,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the draws.")] = 0,
    metric: Annotated[
        str, typer.Option(metavar="auto|reward|eval_reward", help="What trials report and are judged by.")
    ] = "auto",
    jobs: Annotated[int, typer.Option(metavar="N", help="Processes that share the work.")] = 1,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Also draw steps saved over regret into FILE.png.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON list: a row a sweep, rule and setting.")] = False,
) -> None:
    """Say what each pruner would have saved and lost on recorded sweeps, through real Optuna studies."""
    from grpo_ops.cli.replay import replay_command
    from grpo_ops.cli.replay_options import ReplayOptions
    from grpo_ops.replay import Protocol

    options = ReplayOptions(pruners, workers, Protocol(subsets, replicates, seed), metric, jobs, plot, json)
    raise typer.Exit(replay_command(sweeps, options))


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
