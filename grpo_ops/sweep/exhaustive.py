"""Exhaustive: every valid point of a space once, in random order: what `grid` and `brute_force` name."""

import random
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from optuna import Study
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.trial import FrozenTrial, TrialState


class Exhaustive(BaseSampler):
    """Draws the point that fewest trials have; one that only failed trials have comes after those that none has.

    Optuna's GridSampler and BruteForceSampler stop the study when they are through, which `ask` and `tell` refuse,
    GridSampler knows no conditions, and neither knows which combinations are valid.
    """

    def __init__(self, points: Sequence[Mapping[str, Any]], seed: int) -> None:
        self._points = [(_key(point), dict(point)) for point in points]
        random.Random(seed).shuffle(self._points)

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        return {}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        return {}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Each axis in turn finds the same point: the first of the least used that agree with the axes before."""
        given = {**dict(trial.system_attrs.get("fixed_params", {})), **trial.params}
        others = [other for other in study.get_trials(deepcopy=False) if other.number != trial.number]
        lively = (TrialState.RUNNING, TrialState.COMPLETE, TrialState.PRUNED)
        used = Counter(_key(other.params) for other in others if other.state in lively)
        failed = Counter(_key(other.params) for other in others if other.state is TrialState.FAIL)
        drawing = [(key, point) for key, point in self._points if param_name in point]
        fitting = [(key, point) for key, point in drawing if _agrees(point, given)] or drawing
        _, found = min(fitting, key=lambda known: (used[known[0]], failed[known[0]]))
        return found[param_name]


def _key(point: Mapping[str, Any]) -> Hashable:
    return tuple(sorted((path, type(value) is bool, value) for path, value in point.items()))


def _agrees(point: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    return all(path in point and point[path] == value for path, value in given.items())
