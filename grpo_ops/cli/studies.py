"""`grpo-ops sweep thaw|export`: what is done with a study that is there."""

import dataclasses
import json
from pathlib import Path

from grpo_ops.cli.printing import print_further, print_sweep, say, standard_output, sweep_document
from grpo_ops.home import Home, make_quiet


def thaw_command(study: str, trial: str | None, storage: str | None, as_json: bool) -> int:
    """Thaw, show it, and end with the study's leaderboard."""
    make_quiet()
    from grpo_ops.cli.board import live_board, terminal
    from grpo_ops.cli.further import look_further
    from grpo_ops.report.run_picture import draw_run
    from grpo_ops.sweep import thaw_trial

    console, home = terminal(as_json), Home.here()
    with live_board(console) as show:
        board = thaw_trial(study, trial, home, storage=storage, show=show, draw=draw_run)
    if as_json:
        print(json.dumps(sweep_document(board), indent=1))
    else:
        print_sweep(console, board)
        print_further(console, look_further(home, storage or home.optuna_url))
    return 0


def export_command(study: str, to: Path, storage: str | None, as_json: bool) -> int:
    """Write the files, and say where they are and what they are not."""
    make_quiet()
    from grpo_ops.sweep import export_study

    written = export_study(study, to, Home.here(), storage=storage)
    if as_json:
        print(json.dumps(dataclasses.asdict(written), indent=1, default=str))
        return 0
    console = standard_output()
    say(console, f"{written.path}: {written.trials} trials")
    if written.stopped:
        say(console, f"{written.stopped} of them were stopped early: where those would have ended is not known")
    return 0
