"""What the commands say at their end: text for people, and the same as JSON. Imports no room, only its types."""

import dataclasses
import io
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from grpo_ops.registry import Promotion
    from grpo_ops.sweep import Board, TrainReport

_UNLIMITED = 10_000
_WIDE = 110


def say(console: Console, *lines: RenderableType) -> None:
    """Print lines as they are: `[` is no markup, and a line that goes into a file or a pipe is not wrapped."""
    for line in lines:
        shown = Text(line) if isinstance(line, str) else line
        console.print(shown, soft_wrap=not console.is_terminal, highlight=False)


def standard_output() -> Console:
    """Where what a command says goes; brackets in it are no markup, and what its encoding lacks becomes `?`."""
    if not is_unicode() and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


def is_unicode() -> bool:
    """Whether stdout can show bars, lines and powers."""
    return (sys.stdout.encoding or "").lower().startswith("utf")


def is_wide(console: Console) -> bool:
    """Whether a table may have all its columns: in a file or a pipe it always may."""
    return not console.is_terminal or console.width >= _WIDE


def print_table(console: Console, table: Table) -> None:
    """A table that fits the terminal; in a file or a pipe as wide as it is, without blanks at the ends of its lines."""
    if console.is_terminal:
        console.print(table)
        return
    wide = Console(file=io.StringIO(), width=_UNLIMITED, highlight=False, markup=False, emoji=False, color_system=None)
    with wide.capture() as captured:
        wide.print(table)
    text = captured.get() if is_unicode() else captured.get().replace("─", "-")
    for line in text.splitlines():
        print(line.rstrip(), file=console.file)


def print_sweep(console: Console, board: "Board") -> None:
    """The leaderboard and the compute saved."""
    from grpo_ops.cli.board import leaderboard_lines, summary_lines

    note = [board.note] if board.note else []
    say(console, *leaderboard_lines(board, wrap=console.is_terminal), *summary_lines(board), *note)


def print_run(console: Console, report: "TrainReport") -> None:
    """How a run on its own ended."""
    row, result = report.row, report.result
    said = "had already ended; its spec is unchanged, so nothing was run" if report.was_over else "ended"
    say(
        console,
        f"run {result.key} {said}: {row.state}: {row.reason}",
        f"steps {row.step} of {row.max_steps}, {result.seconds:.0f} s, MLflow run {row.mlflow_run_id or '-'}",
    )
    if row.evaluation is not None:
        say(console, f"best held-out evaluation {row.evaluation:.3f} (checkpoint {result.best and result.best.path})")
    say(console, *(f"diagnosis ({finding.severity}): {finding.sentence}" for finding in result.diagnoses))


def print_promotion(console: Console, promotion: "Promotion", dry_run: bool) -> None:
    """The gates, the verdict, and the law that goes with the version."""
    for gate in promotion.gates:
        say(console, f"  {'passed ' if gate.passed else 'REFUSED'}  {gate.name}: {gate.sentence}")
    say(console, promotion.sentence + (" (dry run: nothing was registered)" if dry_run else ""))
    if promotion.candidate is not None and promotion.candidate.law.get("params"):
        say(console, _law_line(promotion.candidate.law))


def print_further(console: Console, lines: Iterable[str]) -> None:
    """Where to look further."""
    say(console, "", "Look further:", *(f"  {line}" for line in lines))


def sweep_document(board: "Board") -> dict[str, Any]:
    """A finished sweep as JSON."""
    from grpo_ops.sweep import leaderboard

    return {
        "study": board.study,
        "trials": board.told,
        "asked": board.asked,
        "steps_used": board.steps_used,
        "steps_allowed": board.steps_allowed,
        "saved": board.saved,
        "winner": board.winner and board.winner.as_dict(),
        "note": board.note,
        "leaderboard": leaderboard(board),
    }


def run_document(report: "TrainReport") -> dict[str, Any]:
    """A run that is over as JSON."""
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
        "diagnoses": [finding.as_dict() for finding in result.diagnoses],
    }


def _law_line(law: Mapping[str, Any]) -> str:
    numbers = ", ".join(f"{name} {value:.3g}" for name, value in law["params"].items() if value is not None)
    quality = f"R² {law['r2']:.2f}, against the smoothed curve {law['r2_smoothed']:.2f}"
    return f"its law: {law['law']} in progress, {numbers}; {quality}"
