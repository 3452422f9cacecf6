"""Siblings: the other runs of a study, prepared once for all the curves whose forecasts lean on them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from grpo_ops.curve import RewardCurve
from grpo_ops.law import Pool
from grpo_ops.law.hyperparameters import Params


@dataclass(frozen=True, eq=False)
class Siblings:
    """Finished runs of one study, each with its hyperparameters. left_out: how many of those given had not finished."""

    curves: tuple[RewardCurve, ...] = ()
    params: tuple[Params, ...] = ()
    pool: Pool = field(default_factory=lambda: Pool.of(()))
    left_out: int = 0

    @classmethod
    def of(cls, curves: Sequence[RewardCurve], params: Sequence[Params] = ()) -> "Siblings":
        """The finished ones of `curves`; params in the same order, or none."""
        known = list(params) or [{}] * len(curves)
        kept = [index for index, curve in enumerate(curves) if not Pool.of([curve]).left_out]
        finished, own = tuple(curves[i] for i in kept), tuple(known[i] for i in kept)
        return cls(finished, own, Pool.of(finished, own), len(curves) - len(finished))

    def __len__(self) -> int:
        return len(self.curves)

    def without(self, curve: RewardCurve) -> "Siblings":
        """All but `curve` itself, by its rewards: the same run may have been read from another place."""
        kept = [index for index, own in enumerate(self.curves) if not _is_same(own, curve)]
        if len(kept) == len(self):
            return self
        return Siblings(
            tuple(self.curves[i] for i in kept),
            tuple(self.params[i] for i in kept),
            self.pool.only(kept),
            self.left_out,
        )

    def params_of(self, curve: RewardCurve) -> Params | None:
        """The hyperparameters of `curve`, where it is one of these runs and they are known."""
        found = (own for own, run in zip(self.params, self.curves, strict=True) if _is_same(run, curve))
        return next(found, None) or None


def _is_same(one: RewardCurve, other: RewardCurve) -> bool:
    return one.steps == other.steps and one.rewards == other.rewards
