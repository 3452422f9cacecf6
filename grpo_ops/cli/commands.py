"""`grpo-ops train|sweep|promote|reconcile`: load the spec, import the room it needs, make one call, say what happened.

Rooms are imported after the spec has been read and checked: a fault of the spec is said at once.
"""

import dataclasses
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from grpo_ops.cli.failures import EXIT_FAILED, EXIT_REFUSED
from grpo_ops.cli.further import look_further
from grpo_ops.cli.printing import (
    print_further,
    print_promotion,
    print_run,
    print_sweep,
    run_document,
    sweep_document,
)
from grpo_ops.errors import SpecError
from grpo_ops.home import Home, make_quiet
from grpo_ops.preflight import Findings, examine, examine_sweep
from grpo_ops.specs import PromotionSpec, RunSpec, SweepSpec, load_spec


def train_command(file: Path, settings: tuple[str, ...], as_json: bool) -> int:
    """Train, show it, and say how it ended. Exit code 1 if the run failed."""
    make_quiet()
    spec = load_spec(RunSpec, file, settings)
    accept(spec, str(file))
    from grpo_ops.cli.board import live_board, terminal
    from grpo_ops.report.run_picture import draw_run
    from grpo_ops.sweep import train

    console = terminal(as_json)
    with live_board(console) as show:
        report = train(spec, show=show, draw=draw_run, allow_import_paths=True)
    if as_json:
        print(json.dumps(run_document(report), indent=1))
    else:
        print_run(console, report)
        print_further(console, look_further(Home.here(), None, spec.experiment))
    return EXIT_FAILED if report.result.ending.value == "failed" else 0


def sweep_command(file: Path, settings: tuple[str, ...], as_json: bool) -> int:
    """Run the sweep, show it, and end with its leaderboard."""
    make_quiet()
    spec = load_spec(SweepSpec, file, settings)
    accept(spec, str(file))
    from grpo_ops.cli.board import live_board, terminal
    from grpo_ops.report.run_picture import draw_run
    from grpo_ops.sweep import run_sweep

    console = terminal(as_json)
    with live_board(console) as show:
        board = run_sweep(spec, show=show, draw=draw_run, allow_import_paths=True)
    if as_json:
        print(json.dumps(sweep_document(board), indent=1))
    else:
        print_sweep(console, board)
        home = Home.here()
        print_further(console, look_further(home, spec.storage or home.optuna_url, spec.run.experiment))
    return 0


def promote_command(file: Path, settings: tuple[str, ...], as_json: bool, dry_run: bool) -> int:
    """Promote, and print the gates. Exit code 3 if it is refused."""
    make_quiet()
    spec = load_spec(PromotionSpec, file, settings)
    from grpo_ops.cli.board import terminal
    from grpo_ops.registry import promote

    promotion = promote(spec, Home.here(), dry_run=dry_run)
    if as_json:
        print(json.dumps(dataclasses.asdict(promotion), indent=1, default=str))
    else:
        print_promotion(terminal(as_json), promotion, dry_run)
    return EXIT_REFUSED if promotion.status == "refused" else 0


def reconcile_command(as_json: bool, dry_run: bool) -> int:
    """Reconcile, and print what was done. Where nothing was ever run, nothing is made."""
    make_quiet()
    home = Home.here()
    repairs = []
    if home.has_tracking or any(home.runs.glob("*")):
        from grpo_ops.tracking import reconcile

        repairs = reconcile(home, dry_run=dry_run)
    if as_json:
        print(json.dumps([dataclasses.asdict(repair) for repair in repairs], indent=1, default=str))
        return 0
    for repair in repairs:
        print(repair)
    if not repairs:
        print("nothing to do: MLflow has all that the journals say")
    return 0


def accept(spec: RunSpec | SweepSpec, source: str) -> Findings:
    """Pre-flight: raise SpecError if it finds faults, else say its warnings."""
    if isinstance(spec, SweepSpec):
        findings = examine_sweep(spec, allow_import_paths=True)
    else:
        findings = examine(spec, allow_import_paths=True)
    if findings.faults:
        raise SpecError(source, list(findings.faults))
    warn(findings.warnings)
    return findings


def warn(sentences: Iterable[str]) -> None:
    """Say on stderr what a person should know before the run."""
    for sentence in sentences:
        print(f"grpo-ops: warning: {sentence}", file=sys.stderr)
