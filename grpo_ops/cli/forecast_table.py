"""Several forecasts as one table: a line a curve, the notes below."""

import math
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from grpo_ops.cli.notes import grouped
from grpo_ops.cli.printing import is_unicode, is_wide, print_table, say, standard_output
from grpo_ops.law import Forecast
from grpo_ops.law.diagnostics import Finding, Severity
from grpo_ops.report import ForecastReport, sparkline

_STYLES = {Severity.INFO: "", Severity.WARNING: "yellow", Severity.CRITICAL: "bold red"}


def print_forecasts(reports: Sequence[ForecastReport]) -> None:
    """The table of `reports`, on a terminal as wide as this one, elsewhere a line a curve however long."""
    console = standard_output()
    print_table(console, forecast_table(reports, has_room=is_wide(console)))
    say(console, *grouped((report.name, caution) for report in reports for caution in report.cautions))


def forecast_table(reports: Sequence[ForecastReport], *, has_room: bool = True) -> Table:
    """One row a report; a sparkline and the level now, where there is room for them."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("run", overflow="fold", min_width=10)
    table.add_column("step", justify="right", no_wrap=True)
    table.add_column("phase", no_wrap=True)
    if has_room:
        table.add_column("curve", no_wrap=True)
        table.add_column("now", justify="right", no_wrap=True)
    for name in ("forecast", f"{100 * reports[0].forecast.level:g} % band"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("findings", overflow="fold")
    for report in reports:
        table.add_row(*_cells(report, has_room), _findings(report.diagnostics))
    return table


def _cells(report: ForecastReport, has_room: bool) -> list[str]:
    ahead = report.forecast
    now = [sparkline(report.curve.rewards, 12, plain=not is_unicode()), _number(ahead.last_value)] if has_room else []
    place = [report.name, f"{ahead.step}/{ahead.horizon}", ahead.phase.value]
    return [*place, *now, _number(ahead.mean), _band(ahead)]


def _findings(findings: Sequence[Finding]) -> Text:
    parts = [Text(finding.symptom.value, style=_STYLES[finding.severity]) for finding in findings]
    return Text(", ").join(parts) if parts else Text("-")


def _band(ahead: Forecast) -> str:
    return f"{ahead.low:.3g} to {ahead.high:.3g}" if math.isfinite(ahead.sd) else ahead.status.value


def _number(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "-"
