"""`grpo-ops replay SWEEP...`: what pruners would have saved and lost on recorded sweeps."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grpo_ops.cli.failures import EXIT_BAD_INPUT, needs
from grpo_ops.cli.forecast import attempted
from grpo_ops.cli.notes import grouped
from grpo_ops.cli.printing import print_table, say, standard_output
from grpo_ops.cli.replay_options import ReplayOptions
from grpo_ops.replay import Sweep, SweepRow, load_sources, mean_sweep_rows, replay
from grpo_ops.replay.trials import Metric

_WORDS = (
    "saved: share of the steps that full runs take. regret: what the best kept trial scores less than the best. kept: "
    "how often the best trial was not pruned; near: or one within 1.4 standard errors of it. false: pruned trials that "
    "beat the incumbent of their time. ±: standard error over replicates. ms: of one call of should_prune."
)
_EVALUATIONS = "evals: completions spent on evaluation, as a share of those spent on training; they are not in saved."


def replay_command(paths: Sequence[Path], options: ReplayOptions) -> int:
    """Print the rows as JSON, or as tables. Exit code 2 where one of several paths cannot be read."""
    options.check()
    rules, workers, metric = options.rules(), options.worker_counts(), options.judged_by()
    unique = list(dict.fromkeys(path.resolve() for path in paths))
    loaded, failed = attempted(unique, lambda path: _sweeps(path, metric), len(unique) == 1)
    sweeps = [sweep for found in loaded for sweep in found]
    rows = _shown(replay(sweeps, rules, options.protocol, workers=workers, jobs=options.jobs))
    means = mean_sweep_rows(rows)
    if options.plot is not None and rows:
        _draw(means, options.plot)
    if options.as_json:
        print(json.dumps([row.as_dict() for row in [*rows, *means]], indent=1))
    elif rows:
        _print(standard_output(), sweeps, rows, means)
    return EXIT_BAD_INPUT if failed else 0


def _sweeps(path: Path, metric: Metric) -> list[Sweep]:
    """The sweeps in a file or a folder; of a folder that has some, single curves are left out."""
    sources = load_sources([path])
    return [Sweep.of(source, metric) for source in [one for one in sources if one.is_sweep] or sources]


def _shown(rows: Iterable[SweepRow]) -> list[SweepRow]:
    """All rows; a terminal shows how far it is."""
    done: list[SweepRow] = []
    with Console(stderr=True).status("") as status:
        for row in rows:
            done.append(row)
            status.update(
                Text(f"{len(done)} rows, last: {row.sweep}, {row.workers} at a time, {row.rule} {row.setting}")
            )
    return done


def _draw(means: Sequence[SweepRow], path: Path) -> None:
    needs("cli", "matplotlib")
    from grpo_ops.report import frontier_figure, save_png

    save_png(frontier_figure(means), path)


def _print(console: Console, sweeps: Sequence[Sweep], rows: Sequence[SweepRow], means: Sequence[SweepRow]) -> None:
    names = list(dict.fromkeys(row.sweep for row in rows))
    for workers in dict.fromkeys(row.workers for row in rows):
        said = f", {workers} at a time" if workers > 1 else ""
        for name in names:
            say(console, Text(f"{name}{said}", style="bold"))
            print_table(console, sweep_table([row for row in rows if (row.sweep, row.workers) == (name, workers)]))
        if len(names) > 1:
            say(console, Text(f"mean of {len(names)} sweeps{said}", style="bold"))
            print_table(
                console, sweep_table(_labelled([row for row in means if row.workers == workers], rows, len(names)))
            )
    say(console, _WORDS, *([_EVALUATIONS] if any(row.evaluations is not None for row in rows) else []))
    judged = [(sweep.name, "judged by held-out evaluation") for sweep in sweeps if sweep.by_evaluation]
    say(console, *grouped([*judged, *((sweep.name, note) for sweep in sweeps for note in sweep.notes)]))


def _labelled(means: Sequence[SweepRow], rows: Sequence[SweepRow], sweeps: int) -> list[SweepRow]:
    """The means; one that is over some of the sweeps only, since others have no outcomes by prompt, says so."""
    counts = Counter((row.rule, row.setting, row.workers) for row in rows)
    return [
        row if count == sweeps else replace(row, setting=f"{row.setting} (of {count})")
        for row in means
        for count in [counts[row.rule, row.setting, row.workers]]
    ]


def sweep_table(rows: Sequence[SweepRow]) -> Table:
    """One row a rule and setting, in per cent."""
    has_evaluations = any(row.evaluations is not None for row in rows)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for name in ("rule", "setting"):
        table.add_column(name, overflow="fold")
    for name in ("saved %", "regret %", "kept %", "near %", "false %", "ms", *(["evals %"] if has_evaluations else [])):
        table.add_column(name, justify="right", no_wrap=True)
    last = None
    for row in rows:
        rule = "" if row.rule == last else row.rule.replace("_", " ")
        table.add_row(rule, row.setting, *_numbers(row), *([_percent(row.evaluations)] if has_evaluations else []))
        last = row.rule
    return table


def _numbers(row: SweepRow) -> list[str]:
    saved = f"{100 * row.saved:.1f} ±{100 * row.saved_se:.1f}"
    regret = f"{100 * row.regret:.2f} ±{100 * row.regret_se:.2f}"
    shares = [f"{100 * value:.0f}" for value in (row.keeps_best, row.near)]
    return [saved, regret, *shares, f"{100 * row.false_prunes:.1f}", f"{row.ms_per_decision:.2f}"]


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f}"
