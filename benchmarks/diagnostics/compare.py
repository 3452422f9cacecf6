"""python -m benchmarks.diagnostics.compare [--out FILE] [--keep FOLDER]: prints the tables, or writes them."""

import argparse
import csv
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.diagnostics import tables
from benchmarks.diagnostics.environment import PACKAGES, Rivals
from benchmarks.diagnostics.runs import curve, public_runs, recorded_runs
from grpo_ops.law.diagnostics import diagnose

JUDGEMENTS = Path(__file__).with_name("judgements.csv")
PREFACE = Path(__file__).with_name("preface.md")


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as scratch:
        rivals = Rivals(Path(arguments.keep or scratch))
        text = "\n".join(report(rivals)) + "\n"
    if arguments.out:
        Path(arguments.out).write_text(text)
    else:
        print(text, end="")


def report(rivals: Rivals) -> Iterator[str]:
    """The page, line by line."""
    scenarios, recorded = rivals.scenarios(), [*public_runs(), *recorded_runs()]
    named, judged = verdicts(rivals, scenarios), verdicts(rivals, recorded)
    opinions = judgements()
    yield PREFACE.read_text().replace("{packages}", ", ".join(PACKAGES))
    yield "## Scenarios\n\nRight name at all / as a warning or worse / as the first finding.\n"
    yield from tables.scenario_table(named)
    yield "\n## Alarms on recorded runs\n"
    yield from tables.alarm_table(judged, {run["id"]: run["family"] for run in recorded}, opinions)
    yield "\n## Our alarms on recorded runs, each looked at\n"
    yield from tables.our_alarms(judged, opinions)
    yield "\n## Alarms of the others that are false or unclear\n"
    yield from tables.their_false_alarms(opinions)


def verdicts(rivals: Rivals, runs: list[dict[str, Any]]) -> dict[str, dict[str, list[Any]]]:
    """Each tool's (name, severity) for each run, the worst first."""
    found = rivals.verdicts(runs)
    return {run["id"]: {**found[run["id"]], "ours": _ours(run)} for run in runs}


def judgements() -> dict[tuple[str, str, str], tuple[str, str]]:
    """(tool, run, name) -> (true, false or unclear, why), as they were written down after a look at the curve."""
    with JUDGEMENTS.open(newline="") as file:
        return {(r["tool"], r["run"], r["alarm"]): (r["judgement"], r["why"]) for r in csv.DictReader(file)}


def _ours(run: dict[str, Any]) -> list[tuple[str, str]]:
    return [(finding.symptom.value, finding.severity.value) for finding in diagnose(curve(run))]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", help="write the page here instead of printing it")
    parser.add_argument("--keep", help="a folder for the rivals' environment, used again by the next call")
    return parser.parse_args()


if __name__ == "__main__":
    main()
