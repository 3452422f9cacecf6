"""The page of the pruners: tables in Markdown from the rows of a replay."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from grpo_ops.replay import SweepRow, mean_sweep_rows
from grpo_ops.replay.trials import Metric


@dataclass(frozen=True)
class Set:
    """Sweeps that are judged alike. bar: regret at most, as a share, at which a setting may be chosen."""

    title: str
    metric: Metric
    bar: float


SETS: Mapping[str, Set] = {
    "P": Set("P: the nine public sweeps, judged by training reward", "reward", 0.007),
    "E": Set("E: the three starter sweeps, judged by held-out evaluation", "eval_reward", 0.003),
    "T": Set("T: the same three, judged by training reward", "reward", 0.007),
    "own": Set("Own: the project's recorded sweeps, judged by held-out evaluation", "eval_reward", 0.003),
    "held out": Set("Held out: two recorded sweeps on which nothing was chosen", "eval_reward", 0.004),
}

_PREFACE = """# Pruners on recorded sweeps

Written by `python -m benchmarks.pruners`; the rows of every sweep are in `pruners.csv`, the picture of P in
`pruners.png`.

Each replicate takes some trials of a sweep (12 of 16 and more, all but 2 of 10 to 15, all but 1 of fewer) in random
order and runs them through an Optuna study of its own, with the real pruner; 100 replicates a sweep, and sweeps weigh
equally. Every rule meets the same draws. A trial reports each value as it was recorded (Wilcoxon: means over 5 % of
the run; where a setting says so, means over 10 %) and asks `should_prune` after each.

- saved: 1 - steps used / steps of full runs. A trial's score is the mean of its last tenth of values (at least 3).
- regret: (best score in the subset - best score kept) / |best score|; ± is a standard error over replicates.
- kept, near: how often the best trial, or one within 1.4 standard errors of it, was not pruned.
- false: of the pruned trials, those whose score beats the incumbent of that time.
- ms: of one call of `should_prune`. evals: completions spent on evaluation / those spent on training, not in saved.
- 4 at a time: a trial starts on the worker that is free first, and time is counted in steps.
- clairvoyant: knows every score, and prunes what will end below the best finished trial.
"""


def page(rows: Mapping[str, Sequence[SweepRow]]) -> str:
    """The whole page. rows: of each set, in the order in which they are shown."""
    parts = [_PREFACE]
    for name, found in rows.items():
        if found:
            parts += [f"## {SETS[name].title}\n", *_tables(found)]
    parts += ["## The settings, chosen on the other sweeps\n", _LEFT_OUT, *_left_out(rows)]
    return "\n".join(parts)


def _tables(rows: Sequence[SweepRow]) -> Iterator[str]:
    for workers in sorted({row.workers for row in rows}):
        mine = [row for row in rows if row.workers == workers]
        yield f"Mean of {len({row.sweep for row in mine})} sweeps, {_said(workers)}:\n"
        yield _table(("rule", "setting"), [((row.rule, row.setting), row) for row in mean_sweep_rows(mine)])
        yield f"LawPruner's default, sweep by sweep, {_said(workers)}:\n"
        default = [row for row in mine if (row.rule, row.setting) == ("law", "default")]
        yield _table(("sweep",), [((row.sweep,), row) for row in default])


def _said(workers: int) -> str:
    return f"{workers} at a time" if workers > 1 else "one at a time"


def _table(head: Sequence[str], rows: Sequence[tuple[Sequence[str], SweepRow]]) -> str:
    evaluated = any(row.evaluations is not None for _, row in rows)
    names = [*head, "saved %", "regret %", "kept %", "near %", "false %", "ms", *(["evals %"] if evaluated else [])]
    lines = [_line(names), _line(["---"] * len(head) + ["--:"] * (len(names) - len(head)))]
    for words, row in rows:
        shown = [word.replace("_", " ") for word in words]
        lines.append(_line([*shown, *_numbers(row), *([_percent(row.evaluations)] if evaluated else [])]))
    return "\n".join(lines) + "\n"


def _numbers(row: SweepRow) -> list[str]:
    shares = [_percent(value) for value in (row.keeps_best, row.near)]
    return [*_saved_regret(row), *shares, f"{100 * row.false_prunes:.1f}", f"{row.ms_per_decision:.2f}"]


def _saved_regret(row: SweepRow) -> list[str]:
    return [f"{100 * row.saved:.1f} ± {100 * row.saved_se:.1f}", f"{100 * row.regret:.2f} ± {100 * row.regret_se:.2f}"]


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


_LEFT_OUT = """\
For each sweep: the caution that saves most on the other sweeps of its set at no more regret there than 0.7 % (P, T)
or 0.3 % (E and own, taken together), the one of least regret where none has so little; and what it does on the sweep
itself. For the sweeps that are held out it is chosen on E and own. One trial at a time.
"""
_POOLS = {"P": ("P",), "T": ("T",), "E": ("E", "own"), "own": ("E", "own"), "held out": ("E", "own")}


def _left_out(rows: Mapping[str, Sequence[SweepRow]]) -> Iterator[str]:
    lines = [_line(("set", "sweep left out", "chosen", "saved %", "regret %")), _line(("---",) * 3 + ("--:",) * 2)]
    for name in SETS:
        pool = [row for other in _POOLS[name] for row in _knob(rows.get(other, ()))]
        own, chosen = _knob(rows.get(name, ())), []
        for sweep in dict.fromkeys(row.sweep for row in own):
            setting = best_setting([row for row in pool if row.sweep != sweep], SETS[_POOLS[name][0]].bar)
            chosen += [row for row in own if (row.sweep, row.setting) == (sweep, setting)]
        lines += [_line([name, row.sweep, row.setting, *_saved_regret(row)]) for row in chosen]
        lines += [_line([name, "mean", "", *_saved_regret(row)]) for row in mean_of_all(chosen)]
    yield "\n".join(lines) + "\n"


def _knob(rows: Sequence[SweepRow]) -> list[SweepRow]:
    return [
        row
        for row in rows
        if row.rule == "law" and row.workers == 1 and row.setting.split()[0] in ("default", "caution")
    ]


def best_setting(rows: Sequence[SweepRow], bar: float) -> str | None:
    """The setting that saves most at a mean regret within `bar`; where none is within it, the one of least regret."""
    means = mean_sweep_rows(rows)
    within = [row for row in means if row.regret <= bar]
    if within:
        return max(within, key=lambda row: row.saved).setting
    return min(means, key=lambda row: row.regret).setting if means else None


def mean_of_all(rows: Sequence[SweepRow]) -> list[SweepRow]:
    """The mean over rows of different settings, in a list that is empty where there are none."""
    return mean_sweep_rows([replace(row, setting="chosen") for row in rows])
