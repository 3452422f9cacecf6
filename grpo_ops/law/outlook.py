"""What to expect of a run's level at its horizon: from its siblings where there are enough, else from itself alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from grpo_ops.law.alone import alone
from grpo_ops.law.constants import ALONE, POOLED
from grpo_ops.law.forecast_types import Calibration
from grpo_ops.law.hyperparameters import Params
from grpo_ops.law.pool import Pool
from grpo_ops.law.pooling import Cohort, pooled
from grpo_ops.law.series import Series
from grpo_ops.law.standing import standing
from grpo_ops.law.types import Floats

FEWEST_SIBLINGS = 2


@dataclass(frozen=True, slots=True)
class Outlook:
    """A level to come, as Student's t: mean, scale, degrees of freedom, and what the scale rests on."""

    mean: float
    scale: float
    df: float
    calibration: Calibration

    def reach(self, level: float) -> float:
        """Half the width of the central band that holds with probability `level`."""
        return self.scale * unit_reach(self.df, level)

    @property
    def sd(self) -> float:
        return self.scale * float(np.sqrt(self.df / (self.df - 2)))

    def chance_above(self, value: float) -> float:
        if self.scale == 0:
            return float(self.mean > value)
        return float(stdtr(self.df, (self.mean - value) / self.scale))


def unit_reach(df: float, level: float) -> float:
    """Half the width of Student's t's central band of probability `level`, in units of its scale."""
    return float(stdtrit(df, (1 + level) / 2))


def outlook(own: Series, pool: Pool, params: Params | None = None) -> Outlook:
    """The mean of the last w planned points of `own`, which must not be empty."""
    if own.last_step >= own.horizon:
        return _ended(own, pool)
    end = round(pool.horizon)
    if len(pool) < FEWEST_SIBLINGS or own.last_step >= end:
        return _alone(own)
    there = _at_study_end(own.until(end), pool, params)
    return there if own.horizon == end else _elsewhere(own, there, end)


def _ended(own: Series, pool: Pool) -> Outlook:
    df = POOLED.df + len(pool) if len(pool) >= FEWEST_SIBLINGS else ALONE.df
    return Outlook(own.final, _error_now(own), df, "model-error")


def _error_now(own: Series) -> float:
    """Scale of a forecast over no distance at all."""
    return float(alone(standing(own), 1.0)[1])


def _alone(own: Series) -> Outlook:
    mean, scale = alone(standing(own), own.position(own.last_step) / own.n)
    return Outlook(float(mean), float(scale), ALONE.df, "model-error")


def _at_study_end(own: Series, pool: Pool, params: Params | None) -> Outlook:
    mean, scale, df = pooled(cohort(own, pool, params))
    return Outlook(float(mean), max(float(scale), _error_now(own)), float(df), "siblings")


def _elsewhere(own: Series, there: Outlook, end: int) -> Outlook:
    """Siblings say where a run is at the study's end: before it, on the way there; beyond it, with what is added."""
    if own.horizon > end:
        added = _alone(own).scale ** 2 - _alone(own.until(end)).scale ** 2
        return replace(there, scale=float(np.sqrt(there.scale**2 + max(0.0, added))))
    done = (own.horizon - own.last_step) / (end - own.last_step)
    now, error = own.recent(), _error_now(own)
    variance = error**2 + (there.scale**2 - error**2) * done
    return replace(there, mean=now + (there.mean - now) * done, scale=float(np.sqrt(variance)))


def cohort(own: Series, pool: Pool, params: Params | None = None) -> Cohort:
    """`own` and the runs of `pool`, all at own's progress."""
    progress = own.position(own.last_step) / own.n
    now = [standing(own), *(track.at(progress) for track in pool.tracks)]
    return Cohort(
        now=np.stack(now, axis=-1),
        finals=_column([track.final for track in pool.tracks]),
        final_variances=_column([track.final_variance for track in pool.tracks]),
        coordinates=pool.hyperparameters.with_own(params),
        progress=progress,
    )


def _column(values: Sequence[float]) -> Floats:
    return np.array(values, dtype=np.float64)
