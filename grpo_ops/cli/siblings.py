"""`--siblings PATH`: the finished runs of a study, for forecasts that lean on them; never the curve itself."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grpo_ops.cli.curves import Named, curves_of
from grpo_ops.errors import CurveError

if TYPE_CHECKING:
    from grpo_ops.report import Siblings

_ITSELF = "it is among its siblings itself, and was left out of them"


@dataclass(frozen=True)
class Study:
    """The siblings that were named. is_negative: their rewards are read with their sign turned."""

    siblings: "Siblings"
    is_negative: bool | None = None

    @classmethod
    def of(cls, places: tuple[str, ...], reward: str | None = None, step: str | None = None) -> "Study":
        """All curves in `places`, each run once. reward, step: as of curves_of."""
        from grpo_ops.report import Siblings

        found = [named for place in places for named in _runs(place, reward, step)]
        runs = {(named.curve.steps, named.curve.rewards): named for named in found}.values()
        signs = {named.is_negative for named in runs}
        if len(signs) > 1:
            raise CurveError(
                "--siblings names sweeps where more reward is better and others where less is: name one kind"
            )
        siblings = Siblings.of([named.curve for named in runs], [named.params or {} for named in runs])
        return cls(siblings, signs.pop() if signs else None)

    def around(self, run: Named) -> tuple["Siblings", Any, tuple[str, ...]]:
        """The siblings of `run`, its hyperparameters where they are known, and what to say about both."""
        if self.is_negative is not None and self.is_negative != run.is_negative:
            raise CurveError(
                f"less reward is better for only one of {run.name} and its siblings: give the sweep file itself as "
                "CURVE, so that all are read alike"
            )
        others = self.siblings.without(run.curve)
        notes = (_ITSELF,) if others is not self.siblings else ()
        return others, run.params or self.siblings.params_of(run.curve), notes


def _runs(place: str, reward: str | None, step: str | None) -> list[Named]:
    try:
        return curves_of(place, reward, step)
    except CurveError as error:
        raise CurveError(f"--siblings {place}: {error}") from error
