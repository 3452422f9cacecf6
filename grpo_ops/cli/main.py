"""`grpo-ops`: parses, then imports the room it needs, then makes one call. Nothing heavy is imported for --help."""

import sys


def run() -> None:
    """Entry point of the `grpo-ops` command."""
    try:
        from grpo_ops.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich", "pydantic"):
            raise
        sys.exit("grpo-ops: the command line needs the extra 'cli': pip install 'grpo-ops[cli]'")
    app()
