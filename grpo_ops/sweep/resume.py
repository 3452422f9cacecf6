"""What an earlier process of a sweep left behind: endings not told, runs to try again, runs to compare with."""

from dataclasses import dataclass

import optuna
from optuna.trial import FrozenTrial, TrialState

from grpo_ops.home import Home
from grpo_ops.pruning import TrialView
from grpo_ops.specs import SweepSpec
from grpo_ops.supervise import Ending, conclude, run_folder
from grpo_ops.supervise.prepare import adopt
from grpo_ops.sweep import study as studies
from grpo_ops.sweep.board import Row, concluded
from grpo_ops.sweep.single import already_over
from grpo_ops.sweep.watch import objective_value, view_of


@dataclass(frozen=True)
class Past:
    """A run that is over: its row, and how the judge of the others sees it."""

    row: Row
    view: TrialView


def settle_orphans(study: optuna.Study, home: Home, spec: SweepSpec) -> None:
    """Tell the trials that a killed process left RUNNING: by their run's own result, else as cancelled."""
    for orphan in studies.orphans(study):
        trial = optuna.Trial(study, orphan._trial_id)
        if "run_key" not in orphan.user_attrs:
            study.tell(trial, state=TrialState.FAIL)
            continue
        folder = run_folder(home, orphan.user_attrs["run_key"])
        adopt(folder)
        over = already_over(folder)
        if over is None:
            studies.tell(study, trial, Ending.CANCELLED, "interrupted: the sweep's process was gone", None)
        else:
            studies.tell(study, trial, over.ending, over.reason, objective_value(spec, over))


def requeue(study: optuna.Study, retries: int) -> None:
    """Queue the next attempt of each run whose last one was cancelled, went stale, or failed with attempts left."""
    for key, trial in studies.last_attempts(study).items():
        ending = trial.user_attrs.get("grpo_ops.ending", Ending.CANCELLED.value)
        gave_up = ending == Ending.FAILED.value and studies.count_failed(study, key) > retries
        if trial.state is TrialState.FAIL and not gave_up:
            studies.queue_retry(study, trial)


def past_runs(study: optuna.Study, home: Home) -> dict[str, Past]:
    """The runs of the study that are over, by run_key."""
    over = (TrialState.COMPLETE, TrialState.PRUNED)
    trials = {key: trial for key, trial in studies.last_attempts(study).items() if trial.state in over}
    return {key: _past(study, home, key, trial) for key, trial in trials.items()}


def _past(study: optuna.Study, home: Home, key: str, trial: FrozenTrial) -> Past:
    result = conclude(run_folder(home, key), None)
    row = Row(
        key,
        studies.first_number(study, key),
        trial.params,
        result.max_steps,
        mlflow_run_id=trial.user_attrs.get("mlflow_run_id"),
    )
    return Past(concluded(row, result, trial.user_attrs.get("grpo_ops.reason")), view_of(result, trial.params))
