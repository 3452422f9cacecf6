"""check(): every fault of a run that its task, its rewards, its model's files and this machine show, in seconds."""

import dataclasses
import difflib
import os
import shutil
from collections.abc import Iterator

from grpo_ops.errors import TaskError
from grpo_ops.home import Home
from grpo_ops.preflight.code import warnings
from grpo_ops.preflight.ends import EndTokens, end_faults
from grpo_ops.preflight.findings import Findings
from grpo_ops.preflight.launch import launch_faults
from grpo_ops.preflight.rollouts import rollout_findings
from grpo_ops.preflight.window import ModelFiles, model_files, window_faults
from grpo_ops.specs import RunSpec
from grpo_ops.tasks import Task, load_rewards, load_task, room_for

_LEAST_FREE_BYTES = 200 * 1024**2


def check(spec: RunSpec, *, allow_import_paths: bool = False) -> list[str]:
    """Every fault that can be found before a model is loaded, each one sentence with what to do; [] for none.

    allow_import_paths: whether rewards may be named as `package.module:function` (from a local file only).
    """
    return list(examine(spec, allow_import_paths=allow_import_paths).faults)


def examine(spec: RunSpec, *, allow_import_paths: bool = False) -> Findings:
    """What check() finds, and what a person should know besides: warnings, and the tokens that end a completion."""
    files, missing = model_files(spec.model)
    room = None if files is None else room_for(spec, files.tokenizer, files.window)
    faults = [*_disk_faults(), *launch_faults(spec.launch), *_extra_faults(spec)]
    task = None
    try:
        task = load_task(spec.task, spec.evaluation, room)
    except TaskError as error:
        faults.append(f"task: {error}")
    faults += _reward_faults(spec, task, allow_import_paths)
    if missing is not None:
        faults.append(f"model.id: {missing}")
    broken, shown = rollout_findings(spec, has_model=files is not None)
    faults += broken
    if files is None:
        return Findings.of(faults, warnings(spec))
    ends = EndTokens.of(files.tokenizer, files.eos)
    faults += [*end_faults(files.tokenizer), *_length_faults(spec, task, files)]
    notes = [f"task: {note}"] if room is not None and (note := room.note()) else []
    is_chat = task is not None and any(not isinstance(row.prompt, str) for row in task.train)
    return Findings.of(faults, [*warnings(spec), *notes, *shown, *ends.warnings(is_chat)], ends)


def _length_faults(spec: RunSpec, task: Task | None, files: ModelFiles) -> list[str]:
    if task is None:
        return []
    try:
        return list(window_faults(spec, task, files))
    except TaskError as error:
        return [f"task: {error}"]


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
