"""A sweep on the terminal: a live table while it runs, the leaderboard at the end."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grpo_ops.cli.printing import say
from grpo_ops.report import sparkline
from grpo_ops.supervise import Ending
from grpo_ops.sweep.board import Board, Row

_STYLES = {
    Ending.FINISHED: "green",
    Ending.PLATEAU: "green",
    Ending.HOPELESS: "yellow",
    Ending.DIVERGED: "magenta",
    Ending.CANCELLED: "dim",
    Ending.FAILED: "bold red",
}


class Show(Protocol):
    """Is called with the newest board whenever it has changed."""

    def __call__(self, board: Board) -> None: ...


@contextmanager
def live_board(console: Console) -> Iterator[Show]:
    """Show boards as they come: a table that redraws itself on a terminal, a line per ending elsewhere."""
    if not console.is_terminal:
        yield _line_per_ending(console)
        return
    with Live(console=console, refresh_per_second=4) as live:
        yield lambda board: live.update(progress(board))


def progress(board: Board) -> RenderableType:
    """All runs of a study as they stand, and what the sweep has to say just now."""
    said = ((_best_so_far(board), "bold"), (_note(board), "yellow"))
    notes = [Text(words, style=style) for words, style in said if words]
    return Group(progress_table(board), *notes)


def progress_table(board: Board) -> Table:
    """All runs of a study as they stand; a run on its own goes by its key."""
    title = f"{board.study}: {board.told} of {board.asked} trials are over, {board.saved:.0%} of their steps saved"
    is_single = board.asked == 1
    table = Table(title=None if is_single else Text(title), title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for column in ("run" if is_single else "trial", "steps", "curve", "reward", "forecast", "eval", "ending"):
        table.add_column(column, justify="left" if column in ("curve", "ending") else "right", no_wrap=True)
    for row in board.rows:
        table.add_row(*_cells(row, row.key if is_single else str(row.number)))
    return table


def _best_so_far(board: Board) -> str:
    best = board.best
    if best is None or board.asked == 1:
        return ""
    score = f"eval {_number(best.evaluation)}" if best.evaluation is not None else f"reward {_number(best.reward)}"
    return f"best so far: trial {best.number}, {score}"


def _cells(row: Row, name: str) -> list[Text]:
    steps, curve = f"{row.step}/{row.max_steps}", sparkline(row.judged, 12)
    numbers = [_number(row.reward), _band(row), _number(row.evaluation)]
    return [*map(Text, (name, steps, curve, *numbers)), _ending(row)]


def leaderboard_lines(board: Board, *, wrap: bool = True) -> list[RenderableType]:
    """The finished study, best first: a line of numbers and a line of why, for terminals of 80 columns and more.

    wrap: whether the lines of why will be wrapped, and so need room on their left.
    """
    head = f"{'trial':>5}  {'ending':<10}{'steps':>9}{'reward':>8}{'eval':>8}  forecast at the end [band]"
    lines: list[RenderableType] = [Text(f"{board.study}: leaderboard", style="bold"), Text(head, style="bold")]
    for row in board.ranked():
        numbers = (
            f"{f'{row.step}/{row.max_steps}':>9}{_number(row.reward):>8}{_number(row.evaluation):>8}  {_band(row)}"
        )
        ending = _ending(row)
        ending.pad_right(10 - len(ending))
        why = Text(_why(row), style="dim")
        lines += [
            Text.assemble(f"{row.number:>5}  ", ending, numbers),
            Padding(why, (0, 0, 0, 7)) if wrap else Text(" " * 7) + why,
        ]
    return lines


def _why(row: Row) -> str:
    settings = ", ".join(f"{path.rsplit('.', 1)[-1]} {_short(value)}" for path, value in row.parameters.items())
    repeated = f"repeats {row.repeats_of} with another seed; " if row.repeats_of else ""
    return f"{repeated}{row.reason}; {settings}"


def summary_lines(board: Board) -> list[str]:
    """The compute that was saved, and the winner with its uncertainty, in words."""
    winner = [board.winner.sentence, board.winner.doubt] if board.winner else []
    return [
        f"{board.told} of {board.asked} trials: {board.endings}.",
        f"Compute: {board.steps_used} of {board.steps_allowed} steps used, {board.saved:.0%} saved.",
        *filter(None, winner),
    ]


def terminal(as_json: bool) -> Console:
    """Where progress goes: stderr when stdout carries JSON."""
    return Console(file=sys.stderr if as_json else sys.stdout, highlight=False, markup=False)


def _line_per_ending(console: Console) -> Show:
    shown: set[tuple[str, int] | str] = {""}

    def show(board: Board) -> None:
        for row in board.rows:
            if row.ending and (row.key, row.attempt) not in shown:
                shown.add((row.key, row.attempt))
                say(console, _ending_line(board, row))
        if _note(board) not in shown:
            shown.add(_note(board))
            say(console, _note(board))

    return show


def _ending_line(board: Board, row: Row) -> str:
    name = row.key if board.asked == 1 else f"trial {row.number}"
    best = f" ({best})" if (best := _best_so_far(board)) else ""
    numbers = f"reward {_number(row.reward)}, eval {_number(row.evaluation)}{best}"
    return f"{name}: {row.state} at step {row.step} of {row.max_steps}, {numbers}: {row.reason}"


def _note(board: Board) -> str:
    return str(getattr(board, "note", ""))


def _ending(row: Row) -> Text:
    return Text(row.state, style=_STYLES[row.ending] if row.ending else "cyan")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _band(row: Row) -> str:
    if row.forecast is None:
        return "-"
    return f"{row.forecast:.2f} [{_number(row.low)}, {_number(row.high)}]"


def _short(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
