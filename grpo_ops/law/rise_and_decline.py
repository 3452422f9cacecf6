"""Rise and decline: R(x) = R_inf - (R_inf - R0) e^(-x / tau) - drop h(x), a saturation that loses `drop` around `turn`.

h(x) = (1 - e^(-b x)) / (1 + e^(b (turn - x))) with b = 20: h(0) = 0, one half at `turn`, most of the way within a
fifth of the run. drop = 0 is the exponential law; a negative drop is a second rise.
Derived here. On the 95 public runs that rise and end more than a fifth of their range below their smoothed peak, this
h lowers AICc against the exponential law by 5.7 on average, a linear decline by 2.6, a quadratic one by 2.4; a change
of slope at a free place by 2.5. Steeper drops fit a little better (b = 100: 7.6), but then `turn` is a break between
two points and has no standard error; a free b is not worth its parameter.

95 % intervals on planted runs (rise 0.6, noise 0.05, drop 0.2 to 0.5, 50 to 500 points, correlation of the noise 0 or
0.3; 500 draws each): they hold the truth in 92 to 98 %, but `turn` at 50 points and correlation 0.3 in 89.4 % (drop
0.2) and 91.6 % (drop 0.5, turn 0.7). At noise 0.1 and 50 points R0, drop and tau are covered in 84 to 92 % only.
Without a drop `turn` means nothing.
"""

import numpy as np

from grpo_ops.law.levels import between, grid_minima, reach
from grpo_ops.law.logistic import shape as _drop_shape
from grpo_ops.law.saturation import shape as _rise_shape
from grpo_ops.law.scales import Scale
from grpo_ops.law.types import Floats, Law

_STEEPNESS = 20.0
_TAUS, _TURNS = (0.01, 5.0), (0.1, 1.0)
_TAU_GRID = np.array([0.02, 0.06, 0.15, 0.4, 1.2])
_TURN_GRID = np.linspace(0.12, 0.98, 15)


def predict(x: Floats, p: Floats) -> Floats:
    """R at progress x for p = (R0, R_inf, drop, tau, turn): without the drop it would rise to R_inf.

    >>> predict(np.array([0.0, 0.4, 1.0]), np.array([0.2, 0.8, 0.5, 0.1, 0.7])).round(3).tolist()
    [0.2, 0.788, 0.301]
    """
    start, end, drop, tau, turn = p
    return np.asarray(between(start, end, _rise_shape(x, tau)) - drop * _drop_shape(x, _STEEPNESS, turn))


def guess(x: Floats, y: Floats) -> list[Floats]:
    """The best of 5 tau and 15 turns, each with its least squares (R0, R_inf, drop)."""
    g = _rise_shape(x, _TAU_GRID[:, None, None])
    h = _drop_shape(x, _STEEPNESS, _TURN_GRID[:, None])
    columns = np.stack(np.broadcast_arrays(1 - g, g, -h), axis=-1)
    return grid_minima(y, columns, _TAU_GRID, _TURN_GRID)


def bounds(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Levels one range of the data outside of it, drop two ranges, tau 0.01 to 5 runs, turn 0.1 to 1."""
    low, high = reach(y)
    most = 2 * (high - low) / 3
    return np.array([low, low, -most, _TAUS[0], _TURNS[0]]), np.array([high, high, most, _TAUS[1], _TURNS[1]])


_NAMES = ("R0", "R_inf", "drop", "tau", "turn")
rise_and_decline = Law("rise_and_decline", _NAMES, predict, guess, bounds, gains=1, scales={"tau": Scale.LOG})
