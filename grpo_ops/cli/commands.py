"""`grpo-ops train|sweep|promote|reconcile`: load the spec, make one call, say what happened."""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from grpo_ops.cli.board import leaderboard_lines, live_board, summary_lines, terminal
from grpo_ops.cli.failures import EXIT_FAILED, EXIT_REFUSED
from grpo_ops.errors import SpecError
from grpo_ops.home import Home, make_quiet
from grpo_ops.preflight import check
from grpo_ops.registry import Promotion, promote
from grpo_ops.report.run_picture import draw_run
from grpo_ops.specs import PromotionSpec, RunSpec, SweepSpec, load_spec
from grpo_ops.sweep import Board, TrainReport, leaderboard, run_sweep, train
from grpo_ops.tracking import reconcile


def train_command(file: Path, settings: tuple[str, ...], as_json: bool) -> int:
    """Train, show it, and say how it ended. Exit code 1 if the run failed."""
    make_quiet()
    spec = load_spec(RunSpec, file, settings)
    refuse(check(spec, allow_import_paths=True), str(file))
    console = terminal(as_json)
    with live_board(console) as show:
        report = train(spec, show=show, draw=draw_run, allow_import_paths=True)
    if as_json:
        print(json.dumps(_run_document(report), indent=1))
    else:
        _print_run(console, report)
    return EXIT_FAILED if report.result.ending.value == "failed" else 0


def sweep_command(file: Path, settings: tuple[str, ...], as_json: bool) -> int:
    """Run the sweep, show it, and end with its leaderboard."""
    make_quiet()
    spec = load_spec(SweepSpec, file, settings)
    refuse(check(spec.run, allow_import_paths=True), str(file))
    console = terminal(as_json)
    with live_board(console) as show:
        board = run_sweep(spec, show=show, draw=draw_run, allow_import_paths=True)
    if as_json:
        print(json.dumps(sweep_document(board), indent=1))
    else:
        print_sweep(console, board)
    return 0


def promote_command(file: Path, settings: tuple[str, ...], as_json: bool, dry_run: bool) -> int:
    """Promote, and print the gates. Exit code 3 if it is refused."""
    make_quiet()
    promotion = promote(load_spec(PromotionSpec, file, settings), Home.here(), dry_run=dry_run)
    if as_json:
        print(json.dumps(dataclasses.asdict(promotion), indent=1, default=str))
    else:
        print_promotion(terminal(as_json), promotion, dry_run)
    return EXIT_REFUSED if promotion.status == "refused" else 0


def reconcile_command(as_json: bool, dry_run: bool) -> int:
    """Reconcile, and print what was done."""
    make_quiet()
    repairs = reconcile(Home.here(), dry_run=dry_run)
    if as_json:
        print(json.dumps([dataclasses.asdict(repair) for repair in repairs], indent=1, default=str))
        return 0
    for repair in repairs:
        print(repair)
    if not repairs:
        print("nothing to do: MLflow has all that the journals say")
    return 0


def refuse(faults: list[str], source: str) -> None:
    """Raise SpecError if pre-flight found faults."""
    if faults:
        raise SpecError(source, faults)


def sweep_document(board: Board) -> dict[str, Any]:
    """A finished sweep as JSON."""
    return {
        "study": board.study,
        "trials": board.told,
        "asked": board.asked,
        "steps_used": board.steps_used,
        "steps_allowed": board.steps_allowed,
        "saved": board.saved,
        "leaderboard": leaderboard(board),
    }


def print_sweep(console: Console, board: Board) -> None:
    """The leaderboard, the compute saved, and where to look further."""
    for line in [*leaderboard_lines(board), *summary_lines(board)]:
        console.print(line)


def print_promotion(console: Console, promotion: Promotion, dry_run: bool) -> None:
    """The gates, the verdict, and the law that goes with the version."""
    for gate in promotion.gates:
        console.print(f"  {'passed ' if gate.passed else 'REFUSED'}  {gate.name}: {gate.sentence}")
    console.print(promotion.sentence + (" (dry run: nothing was registered)" if dry_run else ""))
    if promotion.candidate is not None and promotion.candidate.law.get("params"):
        console.print(_law_line(promotion.candidate.law))


def _law_line(law: Mapping[str, Any]) -> str:
    numbers = ", ".join(f"{name} {value:.3g}" for name, value in law["params"].items() if value is not None)
    quality = f"R² {law['r2']:.2f}, against the smoothed curve {law['r2_smoothed']:.2f}"
    return f"its law: {law['law']} in progress, {numbers}; {quality}"


def look_further(home: Home, storage: str) -> list[str]:
    """The commands that open what was stored."""
    return [
        f"mlflow ui --backend-store-uri {home.tracking_uri}",
        f"PREFECT_HOME={home.prefect} prefect server start",
        f"optuna-dashboard {storage}",
    ]


def _print_run(console: Console, report: TrainReport) -> None:
    row, result = report.row, report.result
    said = "had already ended; its spec is unchanged, so nothing was run" if report.was_over else "ended"
    console.print(f"run {result.key} {said}: {row.state}: {row.reason}")
    console.print(f"steps {row.step} of {row.max_steps}, {result.seconds:.0f} s, MLflow run {row.mlflow_run_id or '-'}")
    if row.evaluation is not None:
        console.print(f"best held-out evaluation {row.evaluation:.3f} (checkpoint {result.best and result.best.path})")


def _run_document(report: TrainReport) -> dict[str, Any]:
    result, row = report.result, report.row
    return {
        "run_key": result.key,
        "ending": result.ending.value,
        "reason": row.reason,
        "was_over": report.was_over,
        "steps": result.step,
        "max_steps": result.max_steps,
        "seconds": result.seconds,
        "reward": row.reward,
        "eval_reward": row.evaluation,
        "mlflow_run_id": row.mlflow_run_id,
        "best_checkpoint": result.best and dataclasses.asdict(result.best),
        "law": result.fit.as_dict(),
    }
