"""Held: a sampler whose proposals are held to the valid combinations of a space before they become a trial."""

import random
from collections.abc import Sequence
from typing import Any

from optuna import Study
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.trial import FrozenTrial, TrialState

from grpo_ops.specs import Space
from grpo_ops.specs.conditions import Point


class Held(BaseSampler):
    """Draws from `base`, conditional on the combination of the linked axes being valid.

    The base sampler is asked again (that is its own distribution, cut to what is valid) and, where all `tries`
    proposals are invalid, as few axes as possible are changed, which of them by lot, and as little as possible. So
    every axis keeps one name and one fixed distribution in Optuna, and the base sampler learns from valid points only.
    What is enqueued is kept.
    """

    def __init__(self, base: BaseSampler, space: Space, seed: int, tries: int = 10) -> None:
        self.base = base
        self._space = space
        self._lot = random.Random(seed)
        self._tries = tries
        listed = {path: space.axes[path][0].values(space.axes[path][1]) for path in space.linked}
        self._single = {path: values[0] for path, values in listed.items() if len(values) == 1}
        self._free = [path for path in listed if path not in self._single]

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """That of the base sampler; without the linked axes where it cannot propose all of them together."""
        found = self.base.infer_relative_search_space(study, trial)
        if all(path in found for path in self._free):
            return found
        return {path: distribution for path, distribution in found.items() if path not in self._free}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        proposed: dict[str, Any] = {}
        for _ in range(self._tries):
            proposed = self.base.sample_relative(study, trial, search_space)
            if not all(path in proposed for path in self._free):  # its first trials: one axis at a time
                return {path: value for path, value in proposed.items() if path not in self._free}
            if self._space.is_valid(proposed | self._given(trial)):
                return proposed
        repaired = self._repaired(proposed, self._given(trial))
        return proposed | {path: value for path, value in repaired.items() if path in search_space}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        value = self.base.sample_independent(study, trial, param_name, param_distribution)
        if param_name not in self._free:
            return value
        given = {**trial.params, **self._given(trial)}
        fitting = [point[param_name] for point in self._space.fitting(given) if param_name in point]
        for _ in range(self._tries):
            if value in fitting:
                return value
            value = self.base.sample_independent(study, trial, param_name, param_distribution)
        return self._repaired({param_name: value}, given).get(param_name, value)

    def _repaired(self, proposed: dict[str, Any], given: dict[str, Any]) -> Point:
        found = self._space.repairs(proposed, given)
        return self._lot.choice(found) if found else {}

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        self.base.before_trial(study, trial)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        self.base.after_trial(study, trial, state, values)

    def reseed_rng(self) -> None:
        self.base.reseed_rng()

    def _given(self, trial: FrozenTrial) -> dict[str, Any]:
        """What is settled whatever is proposed: axes of one value, and what was enqueued."""
        return self._single | dict(trial.system_attrs.get("fixed_params", {}))
