"""How wrong forecasts are: the constants of the two forecasters, with and without siblings.

All of them were fitted by `python -m benchmarks.calibrate` on recorded sweeps of starter models: those in
benchmarks/sweeps that HELD_OUT does not name, and three more. No public curve was used. The command prints them, and
the scores of each sweep by constants that were fitted on the others.
"""

from dataclasses import dataclass
from typing import Protocol


class _Widened(Protocol):
    @property
    def widening_start(self) -> float: ...
    @property
    def widening_end(self) -> float: ...


def widening(constants: _Widened, progress: float) -> float:
    """By how much the scale of a forecast is widened at `progress`."""
    return float(constants.widening_start ** (1 - progress) * constants.widening_end**progress)


@dataclass(frozen=True, slots=True)
class Alone:
    """A run without siblings: mean = recent + share (law - recent), and the terms of its variance.

    share_start, share_end: weight of the law at progress 0 and 1. noise_early, decay, noise_late: scale of what may
    still come, in standard deviations of a point, at the start, its decay with progress, and at the end.
    momentum: the same in units of the recent change. power: the scale falls with (1 - progress) to it. df: of the
    t distribution. widening_*: from the best fit to a band that holds what it says,
    at progress 0 and 1, geometric in between.
    """

    share_start: float
    share_end: float
    noise_early: float
    decay: float
    noise_late: float
    momentum: float
    power: float
    df: float
    widening_start: float
    widening_end: float


@dataclass(frozen=True, slots=True)
class Pooled:
    """A run with siblings: a Gaussian process over what runs have still gained, in units of the study's scale.

    share_start, share_end: as in Alone. common: sd of what all runs of the study have in common, and common_power its
    fall with (1 - progress); different: sd of what tells runs apart; own: sd of what nothing explains; power: the fall
    of both. near_*: distance over which two runs are alike, in level, law forecast and gain so far (study scales), in
    other hyperparameters, in decades of the learning rate. own_weight: of the run's own scale, in siblings.
    df: prior degrees of freedom of the scale. widening_*: as in Alone.
    """

    share_start: float
    share_end: float
    common: float
    common_power: float
    different: float
    own: float
    power: float
    near_level: float
    near_law: float
    near_gain: float
    near_params: float
    near_rate: float
    own_weight: float
    df: float
    widening_start: float
    widening_end: float


ALONE = Alone(
    share_start=0.39,
    share_end=0.428,
    noise_early=5.45,
    decay=0.11,
    noise_late=1.2,
    momentum=0.803,
    power=0.798,
    df=6.0,
    widening_start=1.31,
    widening_end=0.752,
)
POOLED = Pooled(
    share_start=-0.0756,
    share_end=0.347,
    common=0.118,
    common_power=0.722,
    different=0.863,
    own=0.078,
    power=1.54,
    near_level=1.32,
    near_law=3.11,
    near_gain=1.49,
    near_params=5.81,
    near_rate=0.689,
    own_weight=3.46,
    df=5.0,
    widening_start=1.12,
    widening_end=0.832,
)
