"""The final level of a run without siblings: a weighted mean of its recent level and the law's, and how wrong that is.

Derived here; the scale of what may still come grows with the distance to the horizon, never with anything else that
depends on the horizon, so that a longer one never narrows the band.
"""

import numpy as np

from grpo_ops.law.constants import ALONE, Alone, widening
from grpo_ops.law.types import Floats


def alone(now: Floats, progress: float, constants: Alone = ALONE) -> tuple[Floats, Floats]:
    """Mean and scale of the final level (Student's t with constants.df), each (...), from standings (..., 6)."""
    recent, law, variance = now[..., 0], now[..., 3], now[..., 5]
    share = constants.share_start + (constants.share_end - constants.share_start) * progress
    ahead = own_scale(now, progress, constants) * (1 - progress) ** constants.power
    measured = 2 * variance  # of the recent level, and of the final one
    scale = widening(constants, progress) * np.sqrt(ahead**2 + measured)
    return recent + share * (law - recent), np.maximum(scale, np.sqrt(measured))


def own_scale(now: Floats, progress: float, constants: Alone = ALONE) -> Floats:
    """Scale of what a run may still gain, from its noise and its recent change: (...)."""
    recent, before, noise = now[..., 0], now[..., 1], now[..., 4]
    per_noise = constants.noise_late + constants.noise_early * np.exp(-progress / constants.decay)
    return np.asarray(np.hypot(per_noise * noise, constants.momentum * (recent - before)))
