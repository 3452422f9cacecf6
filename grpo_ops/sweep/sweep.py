"""run_sweep(): one Optuna study of GRPO runs, from its spec to its board."""

import os

from grpo_ops.home import Home
from grpo_ops.specs import SweepSpec
from grpo_ops.supervise import Fleet, Launcher, Lock, ProcessLauncher
from grpo_ops.sweep import study as studies
from grpo_ops.sweep.board import Board, Show
from grpo_ops.sweep.broken_off import said_in_a_sentence
from grpo_ops.sweep.close import Draw
from grpo_ops.sweep.coordinator import Coordinator
from grpo_ops.sweep.opening import Setting
from grpo_ops.sweep.state import State


def run_sweep(
    spec: SweepSpec,
    home: Home | None = None,
    *,
    launcher: Launcher | None = None,
    show: Show = lambda board: None,
    draw: Draw | None = None,
    allow_import_paths: bool = False,
) -> Board:
    """Run the study of `spec` to its end, or continue an unfinished one; the board that it ends with.

    launcher: how trainers are started; by default as processes that share the cores. show: is called with the newest
    board. draw: draws the picture of a run that is over. allow_import_paths: whether rewards may be named by import
    path. Raises SweepError when run after run fails or the storage does, SupervisionError if another process on this
    machine runs the study.
    """
    home = home or Home.here()
    with said_in_a_sentence(home):
        storage = studies.open_storage(spec, home)
        name = studies.study_name(spec, storage)
        lock = Lock(home.root / "locks" / f"study-{name}", f"study {name}")
        try:
            study = studies.open_study(spec, name, storage)
            setting = Setting(spec, home, study, storage, show, draw, allow_import_paths)
            return Coordinator(State.of(setting, Fleet(launcher or _sharing_cores(spec)))).run()
        finally:
            lock.release()


def _sharing_cores(spec: SweepSpec) -> ProcessLauncher:
    return ProcessLauncher(threads=max(1, (os.cpu_count() or 1) // spec.parallel))
