"""Arguments and options that several commands take."""

from pathlib import Path
from typing import Annotated

import typer

SpecFile = Annotated[Path, typer.Argument(metavar="FILE", help="Spec as TOML (or JSON).")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Put a value into the spec, by dotted key.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
