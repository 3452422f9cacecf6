"""thaw_trial(): one stopped trial of a study goes on, by hand."""

import optuna

from grpo_ops.errors import SweepError
from grpo_ops.home import Home
from grpo_ops.specs import SweepSpec
from grpo_ops.supervise import Fleet, Launcher, Lock, ProcessLauncher, run_folder
from grpo_ops.sweep import study as studies
from grpo_ops.sweep.board import Board, Row, Show
from grpo_ops.sweep.broken_off import said_in_a_sentence
from grpo_ops.sweep.close import Draw
from grpo_ops.sweep.coordinator import Coordinator
from grpo_ops.sweep.existing import load_existing, spec_of
from grpo_ops.sweep.opening import Setting
from grpo_ops.sweep.resume import Past, past_runs
from grpo_ops.sweep.state import State
from grpo_ops.sweep.thaw import is_stopped, most_promising, queue_thaw, thawed_from


def thaw_trial(
    study_name: str,
    trial: str | None = None,
    home: Home | None = None,
    *,
    storage: str | None = None,
    launcher: Launcher | None = None,
    show: Show = lambda board: None,
    draw: Draw | None = None,
) -> Board:
    """Let a stopped trial go on to its end, from its checkpoint and in its MLflow run; the board afterwards.

    trial: its number on the board, or its run_key; None for the one with the best chance to beat the study's best.
    storage: the study's, if it is not the home's own. Raises SweepError where there is nothing to thaw, and
    SupervisionError while another process works on the study.
    """
    home = home or Home.here()
    with said_in_a_sentence(home):
        study = load_existing(study_name, home, storage)
        spec = spec_of(study, storage)
        lock = Lock(home.root / "locks" / f"study-{study_name}", f"study {study_name}")
        try:
            key = _queue(study, home, trial, spec.objective)
            setting = _setting(spec, study_name, home, key, show, draw)
            return Coordinator(State.of(setting, Fleet(launcher or ProcessLauncher()))).run()
        finally:
            lock.release()


def _queue(study: optuna.Study, home: Home, trial: str | None, objective: str) -> str:
    """Queue the next attempt of the run that is meant, unless it waits already; its run_key."""
    keys = list(studies.last_attempts(study))
    key = None if trial is None else _key_of(trial, keys, study.study_name)
    if key is not None and _is_on_its_way(study, key):
        return key
    past = past_runs(study, home)
    row = _chosen(past, key, study.study_name, objective)
    queue_thaw(study, row)
    return row.key


def _key_of(trial: str, keys: list[str], study_name: str) -> str:
    if trial in keys:
        return trial
    if not trial.isdigit() or int(trial) >= len(keys):
        raise SweepError(f"there is no trial {trial!r} in study {study_name}; it has 0 to {len(keys) - 1}, or run_keys")
    return keys[int(trial)]


def _is_on_its_way(study: optuna.Study, key: str) -> bool:
    """Whether a thaw of this run was broken off: then it goes on."""
    return thawed_from(study, key) is not None and studies.last_attempts(study)[key].state not in studies.OVER


def _chosen(past: dict[str, Past], key: str | None, study_name: str, objective: str) -> Row:
    rows = [run.row for run in past.values()]
    if key is None:
        best = most_promising([row for row in rows if is_stopped(row)], rows, objective)
        if best is None:
            raise SweepError(f"no trial of study {study_name} was stopped before its last step: nothing to thaw")
        return best
    if key not in past:
        raise SweepError(f"trial {key} is not over: the command that runs its sweep continues it")
    row = past[key].row
    if not is_stopped(row):
        raise SweepError(f"trial {key} {row.state} at step {row.step} of {row.max_steps}: only a stopped one is thawed")
    return row


def _setting(spec: SweepSpec, name: str, home: Home, key: str, show: Show, draw: Draw | None) -> Setting:
    storage = studies.open_storage(spec, home)
    study = optuna.load_study(study_name=name, storage=storage, sampler=optuna.samplers.RandomSampler())
    folder = run_folder(home, key)
    allowed = bool((folder.read_json(folder.spec) or {}).get("allow_import_paths", False))
    return Setting(spec, home, study, storage, show, draw, allowed, only=key)
