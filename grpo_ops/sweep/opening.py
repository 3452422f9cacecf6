"""What a sweep is given, and how one of its runs comes under its eyes."""

from dataclasses import dataclass, replace
from typing import Any

import optuna

from grpo_ops.ending import Ending
from grpo_ops.home import Home
from grpo_ops.journal import RunFolder
from grpo_ops.specs import RunSpec, SweepSpec
from grpo_ops.sweep import study as studies
from grpo_ops.sweep.attributes import REPEATS_OF
from grpo_ops.sweep.board import Row, Show
from grpo_ops.sweep.close import Draw
from grpo_ops.sweep.thaw import thawed_from
from grpo_ops.sweep.watch import Watch, rule_for
from grpo_ops.tracking import open_run


@dataclass(frozen=True)
class Setting:
    """What a sweep is given once and never changes. only: the run_key of the one run to be continued, None for all."""

    spec: SweepSpec
    home: Home
    study: optuna.Study
    storage: optuna.storages.RDBStorage
    show: Show
    draw: Draw | None
    allow_import_paths: bool
    only: str | None = None


def open_watch(
    setting: Setting,
    trial: optuna.Trial,
    spec: RunSpec,
    folder: RunFolder,
    parameters: dict[str, Any],
    attempt: int,
) -> Watch:
    """The watch over the run of `trial`, with its MLflow run, and with what earlier attempts wrote."""
    sweep, name = setting.spec, setting.study.study_name
    repeats_of = trial.user_attrs.get(REPEATS_OF)
    tags = {"grpo_ops.trial": str(trial.number)} | ({"grpo_ops.repeats_of": repeats_of} if repeats_of else {})
    tracker = open_run(setting.home, spec, folder.key, study=name, name=folder.key, tags=tags)
    number = studies.first_number(setting.study, folder.key)
    row = Row(folder.key, number, parameters, spec.grpo.max_steps, attempt, mlflow_run_id=tracker.run_id)
    row = replace(row, repeats_of=repeats_of)
    thawed = thawed_from(setting.study, folder.key)
    rule = rule_for(spec, sweep.objective, sweep.pruner)
    if thawed is not None:
        rule = replace(rule, plateau=False, collapse=rule.collapse and thawed is not Ending.DIVERGED)
    prunes = sweep.pruner.name == "law" and thawed is None and repeats_of is None
    watch = Watch(spec, rule, tracker, row, prunes=prunes, thawed=thawed, measures=prunes and sweep.measure)
    watch.recall(folder.entries())
    return watch
