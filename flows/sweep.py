"""grpo-sweep: one study as a Prefect flow run. `python -m flows.sweep FILE` runs it here, without a server."""

import argparse
from pathlib import Path
from typing import Any

from prefect import flow
from prefect.artifacts import create_table_artifact

from flows.guard import FROM_LOCAL_FILE, refuse_faults, tag_this_flow_run
from flows.promote import grpo_promote
from grpo_ops.cli.board import live_board, terminal
from grpo_ops.cli.failures import one_sentence
from grpo_ops.cli.further import look_further
from grpo_ops.cli.printing import print_further, print_sweep, sweep_document
from grpo_ops.home import Home
from grpo_ops.report.run_picture import draw_run
from grpo_ops.specs import PromotionSpec, SweepSpec, load_spec
from grpo_ops.sweep import Board, leaderboard, run_sweep
from grpo_ops.sweep.board import Show


@flow(name="grpo-sweep", log_prints=True)
def grpo_sweep(spec: SweepSpec) -> dict[str, Any]:
    """Run the study, or continue an unfinished one of the same spec; the leaderboard is a table artifact."""
    refuse_faults(spec)
    console = terminal(as_json=False)
    with live_board(console) as show:
        board = run_sweep(spec, show=_tagging(show), draw=draw_run, allow_import_paths=FROM_LOCAL_FILE.get())
    create_table_artifact(table=_table(board), key="grpo-leaderboard", description=f"Study {board.study}")
    print_sweep(console, board)
    return sweep_document(board)


def _tagging(show: Show) -> Show:
    """Tags the flow run with the study as soon as its name is known, so that a killed one is found as well."""
    tagged: list[str] = []

    def shown(board: Board) -> None:
        if not tagged:
            tagged.append(board.study)
            tag_this_flow_run(board.study)
        show(board)

    return shown


def _table(board: Board) -> list[dict[str, Any]]:
    hidden = {"run_key", "mlflow_run_id"}
    return [{name: value for name, value in row.items() if name not in hidden} for row in leaderboard(board)]


@one_sentence
def main() -> None:
    """Run a sweep here and promote its best checkpoint; then say where to look further."""
    parser = argparse.ArgumentParser(prog="python -m flows.sweep", description=main.__doc__)
    parser.add_argument("file", type=Path, help="sweep spec (TOML)")
    parser.add_argument("--promote", type=Path, help="promotion spec (TOML): promote the sweep's best checkpoint")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="put a value into the sweep")
    arguments = parser.parse_args()
    FROM_LOCAL_FILE.set(True)
    spec = load_spec(SweepSpec, arguments.file, tuple(arguments.set))
    result = grpo_sweep(spec)
    if arguments.promote:
        grpo_promote(load_spec(PromotionSpec, arguments.promote, (f"study={result['study']}",)))
    home = Home.here()
    lines = look_further(home, spec.storage or home.optuna_url, spec.run.experiment)
    print_further(terminal(as_json=False), lines)


if __name__ == "__main__":
    main()
