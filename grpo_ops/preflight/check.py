"""check(): every fault of a run that its task, its rewards, its model's files and this machine show, in seconds."""

import dataclasses
import difflib
import os
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
    faults = [*_disk_faults(), *_extra_faults(spec)]
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


def _extra_faults(spec: RunSpec) -> Iterator[str]:
    if not spec.grpo.extra:
        return
    from trl import GRPOConfig  # takes seconds: only where it is needed

    known = [field.name for field in dataclasses.fields(GRPOConfig)]
    for name in sorted(set(spec.grpo.extra) - set(known)):
        close = difflib.get_close_matches(name, known, n=1)
        meant = f"; did you mean {close[0]!r}?" if close else ""
        yield f"grpo.extra.{name}: trl.GRPOConfig has no such field{meant}"


def _disk_faults() -> Iterator[str]:
    home = Home.here().root
    there = next(place for place in (home, *home.parents) if place.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        yield f"home: {home} cannot be written, because {there} is no folder that you may write to; set GRPO_OPS_HOME"
        return
    free = shutil.disk_usage(there).free
    if free < _LEAST_FREE_BYTES:
        yield f"disk: {there} has {free // 1024**2} MB free; a run needs at least {_LEAST_FREE_BYTES // 1024**2} MB"
