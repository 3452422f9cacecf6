"""`grpo-ops spec check|schema`."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from grpo_ops.cli.failures import EXIT_BAD_INPUT, needs
from grpo_ops.specs import KINDS, RunSpec, SweepSpec, load_any

if TYPE_CHECKING:
    from grpo_ops.preflight import EndTokens


def check_command(file: Path, settings: tuple[str, ...], as_json: bool) -> int:
    """Check the file and print its spec (JSON) or a sentence; faults of the task are listed like the spec's own.

    The tokens that end a completion are shown beside it: with JSON on stderr, since what is printed is a spec again.
    """
    spec = load_any(file, settings)
    ends = _preflight(spec, str(file)) if isinstance(spec, RunSpec | SweepSpec) else None
    print(spec.model_dump_json(indent=1) if as_json else f"{file}: a valid {type(spec).__name__}")
    for line in () if ends is None else ends.lines():
        print(line, file=sys.stderr if as_json else sys.stdout)
    return 0


def _preflight(spec: RunSpec | SweepSpec, source: str) -> "EndTokens | None":
    needs("train", "transformers", "reasoning_gym")
    from grpo_ops.cli.commands import accept

    return accept(spec, source).ends


def schema_command(kind: str) -> int:
    """Print the JSON schema of the spec `kind`."""
    if kind not in KINDS:
        print(f"grpo-ops: {kind!r} is no kind of spec; known: {', '.join(KINDS)}", file=sys.stderr)
        return EXIT_BAD_INPUT
    print(json.dumps(KINDS[kind].model_json_schema(), indent=1))
    return 0
