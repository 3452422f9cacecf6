"""Pool: the finished runs of a study, prepared once, so that a forecast that leans on them is cheap."""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from grpo_ops.curve import RewardCurve
from grpo_ops.errors import LawError
from grpo_ops.law.hyperparameters import Hyperparameters, Params
from grpo_ops.law.series import Series
from grpo_ops.law.standing import Track

#: A run counts as finished from this share of its planned points on.
FINISHED = 0.95
_TRACKS: WeakKeyDictionary[Series, Track] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Pool:
    """Finished runs of one study: their standings after every point, their final levels, their hyperparameters.

    tracks: one a run. horizon: median planned last step.
    left_out: how many of the given runs had not finished, were empty, or have rewards that no float can square.
    """

    tracks: tuple[Track, ...]
    horizon: float
    hyperparameters: Hyperparameters
    left_out: int

    @classmethod
    def of(cls, curves: Sequence[RewardCurve], params: Sequence[Params | None] = ()) -> "Pool":
        """Prepare `curves`, other runs of the study; those that have not reached their planned end are left out.

        params: each run's hyperparameters in the same order, None where they are not known.
        Raises LawError if their number is another one.
        """
        known = list(params) or [None] * len(curves)
        if len(known) != len(curves):
            raise LawError(f"a pool needs hyperparameters for each of its {len(curves)} curves but got {len(known)}")
        return cls.of_series([Series.of(curve) for curve in curves], known)

    @classmethod
    def of_series(cls, all_series: Sequence[Series], params: Sequence[Params | None]) -> "Pool":
        """As `of`, from prepared series: each one's track is made once, as long as the series lives."""
        runs = [(series, own) for series, own in zip(all_series, params, strict=True) if _is_finished(series)]
        return cls(
            tuple(_track(series) for series, _ in runs),
            float(np.median([series.horizon for series, _ in runs])) if runs else 0.0,
            Hyperparameters.of([own for _, own in runs]),
            len(all_series) - len(runs),
        )

    def only(self, runs: Sequence[int]) -> "Pool":
        """The runs at these positions, prepared as they are."""
        return Pool(
            tuple(self.tracks[run] for run in runs),
            self.horizon,
            self.hyperparameters.only(runs),
            self.left_out,
        )

    def __len__(self) -> int:
        return len(self.tracks)


def _track(series: Series) -> Track:
    """A study that grows by one run prepares one run."""
    if series not in _TRACKS:
        _TRACKS[series] = Track.of(series)
    return _TRACKS[series]


def _is_finished(series: Series) -> bool:
    if len(series) < 2 or series.is_beyond_floats:
        return False
    return series.position(series.last_step) >= FINISHED * series.n
