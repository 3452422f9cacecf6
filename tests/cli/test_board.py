"""Boards on a terminal and in a file: nothing is taken for markup, nothing is wrapped in a pipe, names are right."""

import io
from dataclasses import dataclass, replace

import pytest
from rich.console import Console

from grpo_ops.cli.board import leaderboard_lines, live_board, progress
from grpo_ops.cli.printing import print_sweep
from grpo_ops.supervise import Ending
from grpo_ops.sweep.board import Board, Row
from grpo_ops.sweep.winner import Winner

REASON = "the reward [red] raised: " + "a long story " * 10
STUDY = Board(
    "demo",
    2,
    (
        Row("demo-000", 0, {"lora.r": 4}, 100, ending=Ending.FINISHED, reason="all steps", step=100, reward=0.5),
        Row("demo-001", 1, {"lora.r": 8}, 100, ending=Ending.FAILED, reason=REASON, step=9, forecast=0.5, low=0.4),
    ),
)
SINGLE = Board("demo", 1, (Row("demo-1a2b3c4d", 0, {}, 100, ending=Ending.FAILED, reason=REASON, step=9),))


@dataclass(frozen=True)
class Noting:
    """A board that has something to say."""

    board: Board
    note: str

    def __getattr__(self, name):
        return getattr(self.board, name)


def shown_by(action, *, terminal=False, width=80):
    file = io.StringIO()
    action(Console(file=file, force_terminal=terminal, width=width, color_system=None))
    return file.getvalue()


@pytest.mark.parametrize(
    ("board", "names"), [(STUDY, ["trial 0: finished at", "trial 1: failed at"]), (SINGLE, ["demo-1a2b3c4d: failed"])]
)
def test_an_ending_is_one_line_however_long(board, names):
    def show(console):
        with live_board(console) as show:
            show(board)
            show(board)

    lines = shown_by(show).splitlines()
    assert len(lines) == len(names)
    assert all(line.startswith(name) for line, name in zip(lines, names, strict=True))
    assert lines[-1].endswith(REASON)


def test_the_leaderboard_in_a_pipe_is_not_wrapped():
    lines = shown_by(lambda console: print_sweep(console, STUDY)).splitlines()
    assert len(lines) == 2 + 2 * len(STUDY.rows) + 2
    assert any(REASON in line and line.startswith("       ") for line in lines)
    assert not any(line.endswith("  ") for line in lines)


def test_the_leaderboard_on_a_terminal_is_indented_where_it_wraps():
    lines = shown_by(lambda console: print_sweep(console, STUDY), terminal=True).splitlines()
    story = [line for line in lines if "long" in line]
    assert len(story) > 1 and all(line.startswith("       ") and len(line) <= 80 for line in story)
    assert "[red]" in "".join(lines)
    assert len(leaderboard_lines(STUDY)) == 6


@pytest.mark.parametrize(
    ("board", "present", "absent"),
    [
        (STUDY, ["demo: 1 of 2", "trial", "failed"], ["demo-001"]),
        (SINGLE, ["demo-1a2b3c4d", "run"], ["trial"]),
        (Noting(STUDY, "stopping: [wait]"), ["stopping: [wait]", "demo: "], []),
    ],
)
def test_the_live_table(board, present, absent):
    text = shown_by(lambda console: console.print(progress(board)), terminal=True)
    assert all(part in text for part in present)
    assert not any(part in text for part in absent)


def test_a_note_is_said_once_where_there_is_no_live_table():
    def show(console):
        with live_board(console) as show:
            for note in ("", "stopping: trainers save", "stopping: trainers save", ""):
                show(Noting(Board("demo", 2), note))

    assert shown_by(show) == "stopping: trainers save\n"


def test_the_best_so_far_is_said_while_it_runs_and_the_winner_at_the_end():
    def show(console):
        with live_board(console) as show:
            show(STUDY)

    assert "eval - (best so far: trial 0, reward 0.500): all steps" in shown_by(show)
    assert "best so far: trial 0, reward 0.500" in shown_by(
        lambda console: console.print(progress(STUDY)), terminal=True
    )
    assert "best so far" not in shown_by(lambda console: console.print(progress(SINGLE)), terminal=True)
    winner = Winner("demo-000", 0.6, 0.55, 0.05, 0.45, 0.65, ("demo-001",), 2, 128, 1)
    said = shown_by(lambda console: print_sweep(console, replace(STUDY, winner=winner)))
    assert (
        "Winner: demo-000, held-out evaluation 0.600; expected 0.550, 95 % band 0.450 to 0.650 (128 prompts, 2" in said
    )
    assert "Cannot be told from it: demo-001." in said
