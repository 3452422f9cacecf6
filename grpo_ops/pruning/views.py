"""Optuna's trials as the judge sees them; those that are over are read once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, overload
from weakref import WeakKeyDictionary

from optuna.storages import BaseStorage
from optuna.study import Study
from optuna.trial import FrozenTrial
from optuna.trial import TrialState as OptunaState

from grpo_ops.curve import RewardCurve
from grpo_ops.pruning.types import TrialState, TrialView

#: Values beyond it are skipped like infinite ones: the law takes fourth powers.
LARGEST = 1e60
STATES: Mapping[OptunaState, TrialState] = {
    OptunaState.RUNNING: "running",
    OptunaState.COMPLETE: "finished",
    OptunaState.PRUNED: "pruned",
    OptunaState.FAIL: "failed",
}


class Views:
    """Trials as TrialViews. Remembers those that are over, by storage and trial id; may forget them at any time."""

    def __init__(self, max_steps: int) -> None:
        self._max_steps = max_steps
        self._over: WeakKeyDictionary[BaseStorage, dict[int, TrialView]] = WeakKeyDictionary()

    def of(self, study: Study, trial: FrozenTrial) -> TrialView:
        return self.all_of(study, [trial])[0]

    def all_of(self, study: Study, trials: Iterable[FrozenTrial]) -> list[TrialView]:
        over = self._over.setdefault(study._storage, {})
        return [self._view(trial, over) for trial in trials]

    def _view(self, trial: FrozenTrial, over: dict[int, TrialView]) -> TrialView:
        known = over.get(trial._trial_id)
        if known is None:
            known = _as_view(trial, self._max_steps)
            if trial.state.is_finished():
                over[trial._trial_id] = known
        return known

    def __reduce__(self) -> tuple[type["Views"], tuple[int]]:
        return Views, (self._max_steps,)


class Others(Sequence[TrialView]):
    """The rest of a study, which is not read before it is looked at: most reports are no checks."""

    def __init__(self, study: Study, trial: FrozenTrial, views: Views) -> None:
        self._study, self._trial, self._views = study, trial, views

    @cached_property
    def _all(self) -> list[TrialView]:
        return self._views.all_of(self._study, rivals_of(self._trial, self._study.get_trials(deepcopy=False)))

    @overload
    def __getitem__(self, index: int) -> TrialView: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[TrialView]: ...
    def __getitem__(self, index: int | slice) -> TrialView | Sequence[TrialView]:
        return self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[TrialView]:
        return iter(self._all)


def rivals_of(trial: FrozenTrial, trials: Iterable[FrozenTrial]) -> list[FrozenTrial]:
    """The other trials that have begun, each run by its last attempt, without earlier attempts of `trial`'s own run."""
    begun = [(other, other.number, _run_of(other)) for other in trials if other.state in STATES]
    continued = {trial.user_attrs.get("continues"), *(other.user_attrs.get("continues") for other, _, _ in begun)}
    last: dict[Any, int] = {}
    for _, number, run in begun:
        last[run] = max(number, last.get(run, number))
    own = _run_of(trial)
    return [other for other, number, run in begun if number == last[run] and number not in continued and run != own]


def _run_of(trial: FrozenTrial) -> Any:
    return trial.user_attrs.get("run_key", trial.number)


def _as_view(trial: FrozenTrial, max_steps: int) -> TrialView:
    values = trial.intermediate_values
    steps = tuple(step for step in sorted(values) if abs(values[step]) <= LARGEST)
    curve = RewardCurve(steps, tuple(float(values[step]) for step in steps), max_steps)
    return TrialView(f"trial {trial.number}", curve, state=STATES[trial.state])
