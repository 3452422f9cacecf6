"""On which scale a parameter is fitted and its interval built: the one on which the cost is closest to a parabola."""

import math
from enum import StrEnum

_MOST_EXPONENT = 700.0


class Scale(StrEnum):
    """LOG: of times, rates and exponents. INVERSE_SQUARE: of what may be as good as infinite: its effect fades so."""

    PLAIN = "plain"
    LOG = "log"
    INVERSE_SQUARE = "inverse square"

    def around(self, value: float, half: float) -> tuple[float, float]:
        """The interval whose half width, seen from `value`, is `half`: symmetric on this scale.

        >>> Scale.INVERSE_SQUARE.around(2.0, 3.0)
        (1.0, inf)
        """
        if self is Scale.PLAIN:
            return value - half, value + half
        if self is Scale.LOG:
            factor = math.exp(min(half / value, _MOST_EXPONENT))
            return value / factor, value * factor
        share = 2 * half / value
        return value / math.sqrt(1 + share), value / math.sqrt(1 - share) if share < 1 else math.inf
