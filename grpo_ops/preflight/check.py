"""check(): every fault of a run that its task, its rewards, its model's files and this machine show, in seconds."""

import shutil
from collections.abc import Iterator

from grpo_ops.errors import TaskError
from grpo_ops.home import Home
from grpo_ops.preflight.window import model_files, window_faults
from grpo_ops.specs import RunSpec
from grpo_ops.tasks import Task, load_rewards, load_task

_LEAST_FREE_BYTES = 200 * 1024**2


def check(spec: RunSpec, *, allow_import_paths: bool = False) -> list[str]:
    """Every fault that can be found before a model is loaded, each one sentence with what to do; [] for none.

    allow_import_paths: whether rewards may be named as `package.module:function` (from a local file only).
    """
    faults = list(_disk_faults())
    task = None
    try:
        task = load_task(spec.task, spec.evaluation)
    except TaskError as error:
        faults.append(f"task: {error}")
    faults += _reward_faults(spec, task, allow_import_paths)
    files, missing = model_files(spec.model)
    if missing is not None:
        return [*faults, f"model.id: {missing}"]
    if task is not None and files is not None:
        faults += window_faults(spec, task, files)
    return faults


def _reward_faults(spec: RunSpec, task: Task | None, allow_import_paths: bool) -> Iterator[str]:
    for index, reward in enumerate(spec.rewards):
        try:
            load_rewards([reward], task or Task((), ()), allow_import_paths=allow_import_paths)
        except TaskError as error:
            yield f"rewards.{index}: {error}"


def _disk_faults() -> Iterator[str]:
    home = Home.here().root
    there = next(place for place in (home, *home.parents) if place.exists())
    free = shutil.disk_usage(there).free
    if free < _LEAST_FREE_BYTES:
        yield f"disk: {there} has {free // 1024**2} MB free; a run needs at least {_LEAST_FREE_BYTES // 1024**2} MB"
