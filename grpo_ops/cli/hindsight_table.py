"""`grpo-ops forecast --backtest`: a table for each finished curve."""

import math
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from grpo_ops.cli.notes import grouped
from grpo_ops.cli.printing import is_wide, print_table, say, standard_output
from grpo_ops.report import Hindsight
from grpo_ops.report.hindsight import Said

_INSIDE = {True: "yes", False: "no", None: "-"}


def print_hindsight(looks: Sequence[Hindsight]) -> None:
    """Each curve's table under its truth; the share of bands that held it, and the notes, at the end."""
    console = standard_output()
    for look in looks:
        say(console, Text(_head(look), style="bold"))
        print_table(console, hindsight_table(look, has_room=is_wide(console)))
    say(console, *_summary(looks), *grouped((look.name, note) for look in looks for note in look.notes))


def hindsight_table(look: Hindsight, *, has_room: bool = True) -> Table:
    """One row for each share of the run."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    off = ["off by"] if has_room else []
    for name in ("after", "step", "level\nthen", "said", f"{100 * look.level:g} % band", "truth\ninside", *off):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("phase then", no_wrap=True)
    table.add_column("collapse", justify="right", no_wrap=True)
    for said in look.said:
        table.add_row(*_cells(said, look.truth, has_room))
    return table


def _head(look: Hindsight) -> str:
    others = f", with {look.siblings} siblings" if look.siblings else ""
    return f"{look.name}: ended at {look.truth:.3g} (mean of the last tenth of {look.horizon} steps){others}"


def _cells(said: Said, truth: float, has_room: bool) -> list[RenderableType]:
    band = "-" if math.isnan(said.low) else f"{said.low:.3g} to {said.high:.3g}"
    inside = Text(_INSIDE[said.inside], style="yellow" if said.inside is False else "")
    off = [f"{said.mean - truth:+.3g}"] if has_room else []
    numbers = [f"{said.progress:.0%}", str(said.step), f"{said.last_value:.3g}", f"{said.mean:.3g}", band]
    return [*numbers, inside, *off, said.phase.value, _chance(said.collapse_chance)]


def _chance(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.0%}"


def _summary(looks: Sequence[Hindsight]) -> list[str]:
    answers = [said.inside for look in looks for said in look.said if said.inside is not None]
    if len(looks) < 2 or not answers:
        return []
    share = sum(answers) / len(answers)
    return [f"{sum(answers)} of {len(answers)} bands held the truth ({share:.0%}; {looks[0].level:.0%} was promised)."]
