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
    share_start=0.5,
    share_end=0.1,
    noise_early=3.2,
    decay=0.1,
    noise_late=1.05,
    momentum=0.8,
    power=0.8,
    df=6.0,
    widening_start=1.2,
    widening_end=1.2,
)
POOLED = Pooled(
    share_start=0.3,
    share_end=0.45,
    common=0.14,
    common_power=1.0,
    different=0.68,
    own=0.165,
    power=1.2,
    near_level=0.63,
    near_law=1.7,
    near_gain=0.95,
    near_params=3.5,
    near_rate=0.67,
    own_weight=1.0,
    df=5.0,
    widening_start=1.05,
    widening_end=1.05,
)
