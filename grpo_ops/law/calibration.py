"""How far off a forecast may be. A band from the law alone lies (its "80 %" covers 50-70 % on public curves).

Two honest bands: from the finished runs of the same study, or, without them, the law's own with a term for its error.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from grpo_ops.law.closed_form import final_level
from grpo_ops.law.forecast_types import Calibration
from grpo_ops.law.series import Series, recent_window, trailing_mean

FEWEST_SIBLINGS = 3
_WIDER = 1.2
# Derived here, on 204 public curves and 60 starter runs: the halfway mean has the smallest errors, and the 80 % band
# covers 64/69/75/85/85 % at 10/20/30/50/70 % of the run. A run that has not moved yet shows no scale of what it may
# still gain but its noise, so noise counts for more the earlier it is.
_LAW_SHARE = 0.5
_KAPPA = 0.7
_NOISE_LATE, _NOISE_EARLY, _EARLY = 0.3, 6.0, 0.2


@dataclass(frozen=True, slots=True)
class Outlook:
    """Final level: mean, standard deviation, and how many of them the band reaches to either side."""

    mean: float
    sd: float
    reach: float
    calibration: Calibration


def outlook(own: Series, siblings: Sequence[Series], level: float) -> Outlook:
    """What to expect of `own`, which must not be empty, from siblings where enough of them got further than it."""
    further = [sibling for sibling in siblings if sibling.last_step > own.last_step]
    if len(further) >= FEWEST_SIBLINGS and own.last_step < own.horizon:
        return _from_siblings(own, further, level)
    return _from_the_law(own, level)


def _from_siblings(own: Series, siblings: Sequence[Series], level: float) -> Outlook:
    """The last value plus the siblings' mean change from here to their ends, and the spread of that change.

    The spread is widened by 1.2, or for few siblings by as much as Student's t is wider than the normal.
    """
    changes = [sibling.final - sibling.recent(max(1, sibling.count(own.last_step))) for sibling in siblings]
    n, half = len(changes), (1 + level) / 2
    widening = max(_WIDER, float(stdtrit(n - 1, half) / ndtri(half)))
    spread = float(np.std(changes, ddof=1)) * float(np.sqrt(1 + 1 / n))
    sd = float(np.hypot(_WIDER * spread, _error_at_the_end(own)))
    reach = float(ndtri(half)) * widening / _WIDER
    return Outlook(own.recent() + float(np.mean(changes)), sd, reach, "siblings")


def _from_the_law(own: Series, level: float) -> Outlook:
    """Halfway between the last value and the law, with sd² = (share sd_law)² + error² + (kappa scale (1 - x))²."""
    done = own.position(own.last_step) / own.n
    share = _LAW_SHARE if done < 1 else 0.0
    law, sd = final_level(own)
    now = own.recent() if done < 1 else own.final
    error = own.noise / np.sqrt(recent_window(len(own))) if done < 1 else 0.0
    errors = (share * sd, error, _error_at_the_end(own), _model_error(own, done))
    reach = float(ndtri((1 + level) / 2))
    return Outlook(now + share * (law - now), float(np.linalg.norm(errors)), reach, "model-error")


def _model_error(own: Series, done: float) -> float:
    scale = _range(own) + (_NOISE_LATE + _NOISE_EARLY * float(np.exp(-done / _EARLY))) * own.noise
    return _KAPPA * scale * max(0.0, 1 - done)


def _error_at_the_end(own: Series) -> float:
    return own.noise / float(np.sqrt(own.window))


def _range(own: Series) -> float:
    full = trailing_mean(own.y, own.window)[min(len(own), own.window) - 1 :]
    return float(np.ptp(full))
