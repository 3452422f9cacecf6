"""The nouns of the law: a law, a fit of it, a phase. Values only; nothing here computes a fit."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grpo_ops.errors import LawError
from grpo_ops.law.scales import Scale

Floats = NDArray[np.float64]


class Phase(StrEnum):
    """Where a run is on its way. `NO_SIGNAL`: nothing that can be told from noise (yet)."""

    SLOW_START = "slow start"
    RISE = "rise"
    PLATEAU = "plateau"
    DECLINE = "decline"
    NO_SIGNAL = "no signal"


class FitStatus(StrEnum):
    """How far a fit or a forecast can be trusted; a bad one is a result, never an exception."""

    OK = "ok"
    POOR = "poor"
    TOO_FEW_POINTS = "too few points"
    CONSTANT = "constant"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Law:
    """A reward law: pure functions of progress x = step / horizon.

    names: the parameters, in the order of a parameter vector p.
    predict(x, p): the reward at each x. guess(x, y): starting points, each a p. bounds(x, y): lowest and highest p.
    The first `levels` parameters are rewards, the next `gains` differences of rewards; predict is linear in both. Of
    the others, those in `scales` are fitted, and their intervals built, on another scale than their own.
    """

    name: str
    names: tuple[str, ...]
    predict: Callable[[Floats, Floats], Floats]
    guess: Callable[[Floats, Floats], list[Floats]]
    bounds: Callable[[Floats, Floats], tuple[Floats, Floats]]
    levels: int = 2
    gains: int = 0
    scales: Mapping[str, Scale] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class LawFit:
    """A law fitted to one curve.

    params: by the law's names; empty unless status is OK or POOR. covariance: in the same order, row by row.
    noise: standard deviation of one point around the law. r2: against the raw points; r2_smoothed: against their
    moving average. n: points that were fitted. horizon: the step at which progress is 1.
    aicc: comparable between laws on the same curve, lower is better. covariance_method: hessian or bootstrap. dof:
    degrees of freedom of the intervals. scales: on which to build them, plain where none is named. at_bound:
    parameters that ended at a bound of the law: the data would have them beyond it.
    """

    law: str
    status: FitStatus
    n: int
    horizon: int
    params: Mapping[str, float] = field(default_factory=dict)
    covariance: tuple[tuple[float, ...], ...] = ()
    noise: float = math.nan
    r2: float = math.nan
    r2_smoothed: float = math.nan
    aicc: float = math.nan
    covariance_method: str = ""
    dof: float = math.nan
    scales: Mapping[str, Scale] = field(default_factory=dict)
    at_bound: tuple[str, ...] = ()

    @property
    def standard_errors(self) -> dict[str, float]:
        """By parameter name; empty where there is no covariance."""
        return {
            name: math.sqrt(row[i]) for i, (name, row) in enumerate(zip(self.params, self.covariance, strict=False))
        }

    def interval(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """Low and high end; holds the true value with probability `level`. Student's t, on the parameter's scale.

        An end that the data leave open is infinite. The law's docstring says where the intervals hold less, or more,
        than they promise. Raises LawError for a level outside (0, 1) and a parameter that the fit does not have.
        """
        if not 0 < level < 1:
            raise LawError(f"level must lie between 0 and 1 but got {level}")
        errors = self.standard_errors
        if name not in errors:
            raise LawError(f"the {self.law} fit ({self.status.value}) has no parameter {name!r}")
        half = _quantile(level, self.dof) * errors[name]
        return self.scales.get(name, Scale.PLAIN).around(self.params[name], half)

    def as_dict(self) -> dict[str, Any]:
        """The fit as JSON can carry it: numbers that are not finite become None."""
        return {
            "law": self.law,
            "status": self.status.value,
            "n": self.n,
            "horizon": self.horizon,
            "params": {name: or_none(value) for name, value in self.params.items()},
            "standard_errors": {name: or_none(value) for name, value in self.standard_errors.items()},
            "intervals": {name: [or_none(end) for end in self.interval(name)] for name in self.standard_errors},
            "covariance": [[or_none(value) for value in row] for row in self.covariance],
            "covariance_method": self.covariance_method,
            "dof": or_none(self.dof),
            "at_bound": list(self.at_bound),
            "noise": or_none(self.noise),
            "r2": or_none(self.r2),
            "r2_smoothed": or_none(self.r2_smoothed),
            "aicc": or_none(self.aicc),
        }


def or_none(value: float) -> float | None:
    """A finite number as a plain float, anything else as None: JSON has no NaN."""
    return float(value) if math.isfinite(value) else None


def _quantile(level: float, dof: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(dof, (1 + level) / 2))
