"""Pruners side by side on the recorded sweeps, through real Optuna studies: pruners.md, pruners.png and pruners.csv.

    python -m benchmarks.pruners                  # what pruners.csv has is not run again
    python -m benchmarks.pruners --again law      # but these rules are; or all

Takes an hour and a half on one core, half of it LawPruner's; interrupted, it goes on where it was.
"""

import argparse
import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path

from benchmarks.pruner_tables import SETS, page
from grpo_ops.replay import Candidate, Protocol, Sweep, SweepRow, candidates, load_sources, mean_sweep_rows, replay
from grpo_ops.report import frontier_figure, save_png

HERE = Path(__file__).parent
PUBLIC = HERE.parent.parent / "shared" / "curves" / "sweeps"
PROTOCOL = Protocol(subsets=True, replicates=100, seed=0)
WORKERS = (1, 4)


@dataclass(frozen=True)
class Named:
    """A row, and the set of sweeps it belongs to."""

    set: str
    row: SweepRow


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", default="", metavar="RULES", help="rules to run again, with commas, or all")
    parser.add_argument("--sets", default=",".join(SETS), help="sets to run, with commas; all are written")
    parser.add_argument("--rules", default="all", help="rules to run, with commas, or all; all are written")
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the work")
    parser.add_argument("--public", type=Path, default=PUBLIC, help="folder of the public sweep files")
    parser.add_argument("--out", type=Path, default=HERE, help="folder of pruners.md, .png and .csv")
    chosen = parser.parse_args()
    table, sets = chosen.out / "pruners.csv", chosen.sets.split(",")
    again = {candidate.rule for candidate in candidates()} if chosen.again == "all" else set(chosen.again.split(","))
    rows = [named for named in _read(table) if named.row.rule not in again or named.set not in sets]
    rules = candidates(None if chosen.rules == "all" else chosen.rules.split(","))
    for name in sets:
        for found in missing(name, sweeps_of(name, chosen.public), rules, rows, chosen.jobs):
            rows.append(found)
            _write(table, rows)
            print(name, *(getattr(found.row, part) for part in ("sweep", "workers", "rule", "setting")), flush=True)
    write_page(_in_order(rows), chosen.out)


def sweeps_of(name: str, public: Path) -> list[Sweep]:
    """The sweeps of a set; none where the public ones are not there."""
    held_out = (HERE / "sweeps" / "HELD_OUT").read_text(encoding="utf-8").split()
    starter, own = sorted(public.glob("starter-*.json")), sorted((HERE / "sweeps").glob("*.json"))
    files = {
        "P": sorted(set(public.glob("*.json")) - set(starter)),
        "E": starter,
        "T": starter,
        "own": [file for file in own if file.stem not in held_out],
        "held out": [file for file in own if file.stem in held_out],
    }[name]
    return [Sweep.of(source, SETS[name].metric) for source in load_sources(files)] if files else []


def missing(
    name: str, sweeps: Sequence[Sweep], rules: Sequence[Candidate], known: Sequence[Named], jobs: int
) -> Iterator[Named]:
    """The rows of a set that are not known yet."""
    have = {(one.row.sweep, one.row.rule, one.row.setting, one.row.workers) for one in known if one.set == name}
    for workers, sweep in product(WORKERS, sweeps):
        left = [one for one in rules if (sweep.name, one.rule, one.setting, workers) not in have]
        if workers > 1:
            left = [one for one in left if not is_along_the_knob(one)]
        for row in replay([sweep], left, PROTOCOL, workers=[workers], jobs=jobs):
            yield Named(name, row)


def is_along_the_knob(candidate: Candidate) -> bool:
    """LawPruner at another caution than its default: with one worker only, since these take half of all the time."""
    return candidate.rule == "law" and candidate.setting.startswith("caution")


def write_page(rows: Sequence[Named], out: Path) -> None:
    (out / "pruners.md").write_text(page({name: _of(rows, name) for name in SETS}), encoding="utf-8")
    public = _of(rows, "P")
    if public:
        save_png(
            frontier_figure(mean_sweep_rows(public), "nine public sweeps, judged by training reward"),
            out / "pruners.png",
        )


def _of(rows: Sequence[Named], name: str) -> list[SweepRow]:
    """The rows of a set; of settings that all its sweeps have, since other means could not be compared."""
    mine = [named.row for named in rows if named.set == name]
    sweeps = {row.sweep for row in mine}
    counts = Counter((row.rule, row.setting, row.workers) for row in mine)
    return [row for row in mine if counts[row.rule, row.setting, row.workers] == len(sweeps)]


def _in_order(rows: Sequence[Named]) -> list[Named]:
    """In the order of the candidates; rows of settings that are no longer tried are left out."""
    places = {(candidate.rule, candidate.setting): place for place, candidate in enumerate(candidates())}
    kept = [named for named in rows if (named.row.rule, named.row.setting) in places]
    return sorted(
        kept, key=lambda named: (named.row.workers, places[named.row.rule, named.row.setting], named.row.sweep)
    )


def _read(path: Path) -> list[Named]:
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [Named(line.pop("set"), _row(line)) for line in csv.DictReader(file)]


def _row(line: dict[str, str]) -> SweepRow:
    texts, whole = ("sweep", "rule", "setting"), ("workers", "replicates")
    numbers = {name: None if text == "" else float(text) for name, text in line.items() if name not in texts}
    return SweepRow(**{name: line[name] for name in texts}, **numbers | {name: int(line[name]) for name in whole})


def _write(path: Path, rows: Sequence[Named]) -> None:
    scratch = path.with_suffix(".part")
    with scratch.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["set", *(one.name for one in fields(SweepRow))], lineterminator="\n")
        writer.writeheader()
        for named in rows:
            cells = {
                name: f"{value:.6g}" if isinstance(value, float) else value
                for name, value in named.row.as_dict().items()
            }
            writer.writerow({"set": named.set} | cells)
    scratch.replace(path)


if __name__ == "__main__":
    main()
