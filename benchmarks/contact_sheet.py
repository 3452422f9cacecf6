"""Contact sheets of recorded curves, to look at: points, law, the forecast made early on, phases.

    python -m benchmarks.contact_sheet ../shared/curves --out sheet.png

draws every curve in these files and folders (not in folders inside them) in pages sheet-1.png, sheet-2.png, ... and
counts the phases that they end in.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from grpo_ops.errors import CurveError
from grpo_ops.reading import read_curve
from grpo_ops.report.contact_sheet import Panel, contact_sheet
from grpo_ops.report.figure import save_png

KINDS = (".csv", ".tsv", ".parquet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, metavar="FOLDER_OR_FILE")
    parser.add_argument("--out", type=Path, required=True, help="the PNG; of several pages the number is added")
    parser.add_argument("--upto", type=float, default=0.3, help="share of the points that the forecast sees")
    parser.add_argument("--columns", type=int, default=6)
    parser.add_argument("--rows", type=int, default=9)
    chosen = parser.parse_args()
    panels = [panel for path in files(chosen.paths) if (panel := read(path, chosen.upto))]
    pages = contact_sheet(panels, chosen.columns, chosen.rows)
    for number, page in enumerate(pages, 1):
        out = chosen.out if len(pages) == 1 else chosen.out.with_stem(f"{chosen.out.stem}-{number}")
        print(save_png(page, out))
    endings = Counter(panel.spans[-1].phase.value for panel in panels if panel.spans)
    print(f"{len(panels)} curves;", ", ".join(f"{name}: {count}" for name, count in endings.most_common()))


def files(paths: list[Path]) -> Iterator[Path]:
    """The files named, and of folders all curves in them, but no tables of evaluations."""
    for path in paths:
        inside = sorted(path.iterdir()) if path.is_dir() else [path]
        yield from (file for file in inside if file == path or (file.suffix in KINDS and ".evals." not in file.name))


def read(path: Path, upto: float) -> Panel | None:
    try:
        return Panel.of(path.stem, read_curve(path).curve, upto)
    except CurveError as error:
        print(f"{path}: {error}")
        return None


if __name__ == "__main__":
    main()
