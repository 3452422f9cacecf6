"""Studies with finished trials, and trials that show a curve to them: what the tests of LawPruner share."""

from typing import Any

import optuna
from optuna.pruners import BasePruner
from optuna.storages import BaseStorage
from optuna.trial import TrialState, create_trial

from grpo_ops.curve import RewardCurve
from grpo_ops.pruning import DECISION_ATTRIBUTE

from .conftest import N, make_curve

ENDS = (0.6, 0.7, 0.8)

optuna.logging.set_verbosity(optuna.logging.WARNING)


def sign_of(direction: str) -> float:
    return 1.0 if direction == "maximize" else -1.0


def study_with_finished(
    pruner: BasePruner,
    direction: str = "maximize",
    ends: tuple[float, ...] = ENDS,
    every: int = 1,
    storage: str | BaseStorage | None = None,
    n: int = N,
) -> optuna.Study:
    """A study whose finished trials end at `ends`; in a study that minimises all rewards have the other sign."""
    study = optuna.create_study(direction=direction, pruner=pruner, storage=storage)
    for end in ends:
        add(study, make_curve(end=end, seed=9, sign=sign_of(direction), n=n), every)
    return study


def add(
    study: optuna.Study,
    curve: RewardCurve,
    every: int = 1,
    state: TrialState = TrialState.COMPLETE,
    **attributes: Any,
) -> None:
    """Add a trial that is over and showed every so many steps of `curve`."""
    values = shown(curve, every)
    value = curve.rewards[-1] if state == TrialState.COMPLETE else None
    study.add_trial(create_trial(state=state, value=value, intermediate_values=values, user_attrs=attributes))


def shown(curve: RewardCurve, every: int = 1) -> dict[int, float]:
    return {step: reward for step, reward in zip(curve.steps, curve.rewards, strict=True) if step % every == 0}


def stop_of(
    study: optuna.Study, curve: RewardCurve, every: int = 1, ask_every: int = 1, **attributes: Any
) -> int | None:
    """The step at which a trial that shows `curve` is told to stop; it is then told to the study."""
    trial = study.ask()
    for name, value in attributes.items():
        trial.set_user_attr(name, value)
    for step, reward in shown(curve, every).items():
        trial.report(reward, step)
        if step % ask_every == 0 and trial.should_prune():
            study.tell(trial, state=TrialState.PRUNED)
            return step
    study.tell(trial, curve.rewards[-1])
    return None


def answers_of(study: optuna.Study, values: dict[int, float]) -> list[bool]:
    """What a new trial that reports `values` is told after each of them; it stays running."""
    trial, answers = study.ask(), []
    for step, value in values.items():
        trial.report(value, step)
        answers.append(trial.should_prune())
    return answers


def decisions_of(study: optuna.Study, values: dict[int, float]) -> list[dict[str, Any]]:
    """Each decision that is stored on a new trial that reports `values`, in turn."""
    trial, found = study.ask(), []
    for step, value in values.items():
        trial.report(value, step)
        trial.should_prune()
        last = trial.user_attrs.get(DECISION_ATTRIBUTE)
        if last is not None and last not in found:
            found.append(last)
    return found


def decision_of(study: optuna.Study, number: int = -1) -> dict[str, Any]:
    """The decision that the storage has of a trial, by default of the last one."""
    found: dict[str, Any] = study.get_trials()[number].user_attrs[DECISION_ATTRIBUTE]
    return found
