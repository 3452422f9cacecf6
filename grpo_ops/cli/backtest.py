"""`grpo-ops backtest PATH...`: how good forecasts would have been on finished runs, against simpler ones."""

import json
from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grpo_ops.cli.failures import EXIT_BAD_INPUT
from grpo_ops.cli.forecast import attempted
from grpo_ops.cli.forecast_options import check_level
from grpo_ops.cli.notes import grouped
from grpo_ops.cli.printing import print_table, say, standard_output
from grpo_ops.errors import CurveError
from grpo_ops.replay import BacktestRow, Source, backtest, load_sources, mean_rows
from grpo_ops.replay.backtest import FEWEST_RUNS
from grpo_ops.replay.finished import only_finished

_UNITS = (
    "Error, CRPS and width are in units of the range of a sweep's final levels (of a single curve's own range); "
    "less is better. n: forecasts. Truth inside: how many of the {level:.0%} bands held it."
)
_ALONE = "fewer than 7 runs, so each is forecast without siblings"


def backtest_command(paths: Sequence[Path], siblings: int, draws: int, seed: int, level: float, as_json: bool) -> int:
    """Print the rows as JSON, or as tables. Exit code 2 where one of several paths cannot be read."""
    _check(siblings, draws, seed, level)
    loaded, failed = attempted(paths, _finished, len(paths) == 1)
    sources = [source for found in loaded for source in found]
    rows = _rows(sources, siblings, draws, seed, level)
    if as_json:
        print(json.dumps([row.as_dict() for row in rows], indent=1))
    elif rows:
        _print(standard_output(), sources, rows, siblings, level)
    return EXIT_BAD_INPUT if failed else 0


def _finished(path: Path) -> list[Source]:
    return [only_finished(source) for source in load_sources([path])]


def _check(siblings: int, draws: int, seed: int, level: float) -> None:
    check_level(level)
    if siblings < 0:
        raise CurveError(f"--siblings is a number of runs, 0 or more, but got {siblings}")
    if seed < 0:
        raise CurveError(f"--seed cannot be negative but got {seed}")
    if draws < 1:
        raise CurveError(f"--draws is how often a run is drawn from each sweep, 1 or more, but got {draws}")


def _rows(sources: Sequence[Source], siblings: int, draws: int, seed: int, level: float) -> list[BacktestRow]:
    """Source by source, which changes nothing in the rows: a terminal shows how far it is."""
    rows: list[BacktestRow] = []
    with Console(stderr=True).status("") as status:
        for number, source in enumerate(sources, 1):
            status.update(Text(f"{source.name} ({number} of {len(sources)})"))
            rows += backtest([source], siblings, draws=draws, seed=seed, level=level)
    return rows


def _print(
    console: Console, sources: Sequence[Source], rows: Sequence[BacktestRow], siblings: int, level: float
) -> None:
    means = mean_rows(rows)
    say(console, Text("All sources, each with the same weight" if len(sources) > 1 else rows[0].source, style="bold"))
    print_table(console, mean_table(means))
    if len(sources) > 1:
        for method in dict.fromkeys((row.method, row.siblings) for row in rows):
            own = [row for row in rows if (row.method, row.siblings) == method]
            say(console, Text(f"{_label(own[0])}: CRPS (truth inside) of each source", style="bold"))
            print_table(console, method_table([*own, *_only(means, method)] if len(_names(own)) > 1 else own))
    say(console, _UNITS.format(level=level), *grouped(_notes(sources, siblings)))


def mean_table(rows: Sequence[BacktestRow]) -> Table:
    """One row for each progress and method, of mean_rows()."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("after", justify="right", no_wrap=True)
    table.add_column("method")
    for name in ("sources", "n", "median\nerror", "90 %\nerror", "CRPS", "truth\ninside", "width"):
        table.add_column(name, justify="right", no_wrap=True)
    last = None
    for row in rows:
        if last is not None and row.progress != last:
            table.add_section()
        table.add_row("" if row.progress == last else f"{row.progress:.0%}", _label(row), *_numbers(row))
        last = row.progress
    return table


def method_table(rows: Sequence[BacktestRow]) -> Table:
    """One method: a row a source, a column for each progress."""
    shares = sorted({row.progress for row in rows})
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("source", overflow="fold")
    for share in shares:
        table.add_column(f"{share:.0%}", justify="right", no_wrap=True)
    for source in dict.fromkeys(row.source for row in rows):
        cells = {row.progress: _cell(row) for row in rows if row.source == source}
        table.add_row(source, *(cells.get(share, "-") for share in shares))
    return table


def _names(rows: Sequence[BacktestRow]) -> set[str]:
    return {row.source for row in rows}


def _only(rows: Sequence[BacktestRow], method: tuple[str, int]) -> list[BacktestRow]:
    return [row for row in rows if (row.method, row.siblings) == method]


def _label(row: BacktestRow) -> str:
    name = row.method.replace("_", " ")
    return f"{name}, {row.siblings} siblings" if row.siblings else name


def _numbers(row: BacktestRow) -> list[str]:
    errors = [f"{value:.3f}" for value in (row.abs_error_median, row.abs_error_p90, row.crps)]
    sources = row.source.removeprefix("mean of ")
    return [sources, str(row.n), *errors, *([f"{row.coverage:.0%}", f"{row.width:.3f}"] if row.width else ["-", "-"])]


def _cell(row: BacktestRow) -> str:
    return f"{row.crps:.3f} ({row.coverage:.0%})" if row.width else f"{row.crps:.3f}"


def _notes(sources: Sequence[Source], siblings: int) -> list[tuple[str, str]]:
    told = [(source.name, note) for source in sources for note in dict.fromkeys(source.notes)]
    if siblings < 1:
        return told
    single = [(source.name, "a single curve, so it has no siblings") for source in sources if not source.is_sweep]
    few = [(source.name, _ALONE) for source in sources if source.is_sweep and len(source.curves) < FEWEST_RUNS]
    return [*told, *single, *few]
