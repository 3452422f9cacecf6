"""What an earlier process of a sweep left behind: endings not told, runs to try again, runs to compare with."""

import os
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import optuna
from optuna.trial import FrozenTrial, TrialState

from grpo_ops.curve import Evaluation, RewardCurve
from grpo_ops.ending import Ending
from grpo_ops.home import Home
from grpo_ops.journal import RunFolder, journal_curve, journal_evaluations, read_journal
from grpo_ops.processes import is_alive
from grpo_ops.pruning import TrialView
from grpo_ops.supervise import RunResult, adopt, run_folder
from grpo_ops.sweep import study as studies
from grpo_ops.sweep.attributes import (
    ATTEMPT,
    ENDING,
    FORECAST,
    MLFLOW_RUN,
    OWNER,
    POINT_AGAIN,
    REASON,
    REPEATS_OF,
    RUN_KEY,
    SCORES,
    STEPS,
)
from grpo_ops.sweep.board import Row
from grpo_ops.sweep.budget import COST
from grpo_ops.sweep.single import already_over
from grpo_ops.sweep.telling import tell
from grpo_ops.sweep.watch import state_of

Settle = Callable[[optuna.Trial, RunResult], None]


@dataclass(frozen=True)
class Past:
    """A run that is over: its row, and how the judge of the others sees it."""

    row: Row
    view: TrialView


def settle_orphans(study: optuna.Study, home: Home, settle: Settle) -> None:
    """End the trials that a killed process left RUNNING: `settle` those whose run is over, tell the rest cancelled."""
    for orphan in _orphans(study):
        trial = optuna.Trial(study, orphan._trial_id)
        over = _result_of(orphan, home)
        if over is not None:
            settle(trial, over)
        else:
            tell(study, trial, Ending.CANCELLED, "interrupted: the sweep's process was gone")
            _keep_point(study, orphan)


def requeue(study: optuna.Study, retries: int, only: str | None = None) -> None:
    """Queue the next attempt of each run whose last one was cancelled, went stale, or failed with attempts left.

    only: the run_key of the one run that this is about, None for all.
    """
    for key, trial in studies.last_attempts(study).items():
        if only not in (None, key):
            continue
        ending = trial.user_attrs.get(ENDING, Ending.CANCELLED.value)
        gave_up = ending == Ending.FAILED.value and studies.count_failed(study, key) > retries
        if trial.state is TrialState.FAIL and not gave_up:
            studies.queue_retry(study, key)


def past_runs(study: optuna.Study, home: Home) -> dict[str, Past]:
    """The runs of the study that are over, by run_key: as Optuna has them, with the curve from their folder."""
    trials = {key: trial for key, trial in studies.last_attempts(study).items() if trial.state in studies.OVER}
    return {key: _past(study, run_folder(home, key), trial) for key, trial in trials.items()}


def _orphans(study: optuna.Study) -> Iterator[FrozenTrial]:
    """RUNNING trials whose process on this machine is gone (those of other machines go stale by their heartbeat).

    Also those of this process, which has started none yet: a sweep of its own that broke off left them.
    """
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        owner = trial.user_attrs.get(OWNER) or {"host": socket.gethostname()}
        is_gone = not is_alive(owner) or owner["pid"] == os.getpid()
        if owner["host"] == socket.gethostname() and is_gone:
            yield trial


def _result_of(orphan: FrozenTrial, home: Home) -> RunResult | None:
    if RUN_KEY not in orphan.user_attrs:
        return None
    folder = run_folder(home, orphan.user_attrs[RUN_KEY])
    adopt(folder)
    return already_over(folder)


def _keep_point(study: optuna.Study, orphan: FrozenTrial) -> None:
    """A queued point that was asked for but never became a run is queued again."""
    point = studies.point_of(orphan)
    if RUN_KEY not in orphan.user_attrs and point is not None:
        study.enqueue_trial(point, user_attrs={POINT_AGAIN: point})


def _past(study: optuna.Study, folder: RunFolder, trial: FrozenTrial) -> Past:
    known = trial.user_attrs
    step, max_steps = known.get(STEPS, (trial.last_step or 0, trial.last_step or 0))
    reward, evaluation = known.get(SCORES, (None, trial.value))
    mean, low, high = known.get(FORECAST, (None, None, None))
    ending = Ending(known.get(ENDING, "finished" if trial.state is TrialState.COMPLETE else "hopeless"))
    row = Row(
        key=folder.key,
        number=studies.first_number(study, folder.key),
        parameters=trial.params,
        max_steps=max_steps,
        attempt=known.get(ATTEMPT, 0),
        ending=ending,
        reason=known.get(REASON, ""),
        step=step,
        reward=reward,
        evaluation=evaluation,
        forecast=mean,
        low=low,
        high=high,
        judged=tuple(trial.intermediate_values[step] for step in sorted(trial.intermediate_values)),
        mlflow_run_id=known.get(MLFLOW_RUN),
        repeats_of=known.get(REPEATS_OF),
        measured=int(known.get(COST, (0, 0.0, 0))[2]),
    )
    curve, evaluations = _curves(folder, trial, max_steps)
    return Past(row, TrialView(folder.key, curve, evaluations, state_of(ending), trial.params))


def _curves(folder: RunFolder, trial: FrozenTrial, max_steps: int) -> tuple[RewardCurve, tuple[Evaluation, ...]]:
    """From the journal; where the run was done elsewhere, what was reported to Optuna stands for both curves."""
    if folder.journal.exists():
        entries = read_journal(folder.journal)
        return journal_curve(entries, max_steps), tuple(journal_evaluations(entries))
    values = dict(sorted(trial.intermediate_values.items()))
    curve = RewardCurve(tuple(values), tuple(values.values()), max_steps)
    return curve, tuple(Evaluation(step, (value,), ("reported",), "reported") for step, value in values.items())
