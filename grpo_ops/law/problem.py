"""What a fit minimises: one law against one sample."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from grpo_ops.law.sample import Sample
from grpo_ops.law.scales import Scale
from grpo_ops.law.types import Floats, Law

Flags = NDArray[np.bool_]
_STEP = 1e-6


@dataclass(frozen=True, eq=False)
class Problem:
    """A law against a sample, in coordinates u: its parameters, each on its scale.

    The cost is sum of 2 (sqrt(1 + r²) - 1) (soft L1), r = sqrt(weight) (y - predicted) / tolerance: squares for
    residuals well below two standard deviations, absolute values far above.
    """

    law: Law
    sample: Sample
    low: Floats
    high: Floats
    tolerance: float
    logs: Flags
    inverses: Flags

    @classmethod
    def of(cls, law: Law, sample: Sample) -> "Problem":
        logs, inverses = (_on(law, scale) for scale in (Scale.LOG, Scale.INVERSE_SQUARE))
        nowhere = np.empty(0)
        free = cls(law, sample, nowhere, nowhere, sample.tolerance, logs, inverses)
        ends = [free.coordinates(end) for end in law.bounds(sample.x, sample.y)]
        return replace(free, low=np.minimum(*ends), high=np.maximum(*ends))

    def coarse(self) -> "Problem":
        """The same law against fewer points."""
        return Problem.of(self.law, self.sample.coarse())

    def starts(self) -> list[Floats]:
        """The law's guesses, within the bounds."""
        return [self.clip(self.coordinates(p)) for p in self.law.guess(self.sample.x, self.sample.y)]

    def clip(self, u: Floats) -> Floats:
        return np.minimum(np.maximum(u, self.low), self.high)

    def coordinates(self, p: Floats) -> Floats:
        u = p.copy()
        u[self.logs] = np.log(p[self.logs])
        u[self.inverses] = p[self.inverses] ** -2.0
        return u

    def params(self, u: Floats) -> Floats:
        p = u.copy()
        p[self.logs] = np.exp(u[self.logs])
        p[self.inverses] = u[self.inverses] ** -0.5
        return p

    def slopes(self, u: Floats) -> Floats:
        """d params / d u."""
        p = self.params(u)
        return np.where(self.logs, p, np.where(self.inverses, -0.5 * p**3, 1.0))

    def path(self, u: Floats) -> Floats:
        return self.law.predict(self.sample.x, self.params(u))

    def residuals(self, u: Floats) -> Floats:
        return np.asarray(self._scale * (self.sample.y - self.path(u)))

    def jacobian(self, u: Floats) -> Floats:
        """d path / d u times the residuals' scale: exact where the law is linear, else by differences.

        Adding the same to all levels adds it to the path, so that their columns sum to 1.
        """
        here, levels, linear = self.path(u), self.law.levels, self.law.levels + self.law.gains
        jacobian = np.empty((len(here), len(u)))
        for index, unit in enumerate(np.eye(len(u))):
            if index >= linear:
                step = _STEP * (u[index] if self.inverses[index] else 1.0)
                jacobian[:, index] = (self.path(u + step * unit) - here) / step
            elif index > 0 or levels == 0:
                jacobian[:, index] = self.path(np.concatenate((unit[:linear], u[linear:])))
        if levels:
            jacobian[:, 0] = 1 - jacobian[:, 1:levels].sum(axis=1)
        return self._scale[:, None] * jacobian

    def with_rewards(self, y: Floats) -> "Problem":
        """The same problem for other rewards at the same steps."""
        return replace(self, sample=replace(self.sample, y=y))

    @cached_property
    def _scale(self) -> Floats:
        return np.asarray(np.sqrt(self.sample.weights) / self.tolerance)


def cost(residuals: Floats) -> float:
    return 2 * float(np.sum(residuals**2 / (1 + np.sqrt(1 + residuals**2))))


def _on(law: Law, scale: Scale) -> Flags:
    return np.array([law.scales.get(name) is scale for name in law.names])
