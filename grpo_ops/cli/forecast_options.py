"""The options of `grpo-ops forecast`, checked before anything is read: each fault is one sentence."""

from dataclasses import dataclass
from pathlib import Path

from grpo_ops.curve import RewardCurve
from grpo_ops.errors import CurveError

_PICTURES = (".png", ".html")


@dataclass(frozen=True)
class ForecastOptions:
    """As given on the command line. is_hindsight: --backtest. reward, step: columns, where they are not recognised."""

    horizon: int | None = None
    upto: float | None = None
    siblings: tuple[str, ...] = ()
    level: float = 0.8
    plot: Path | None = None
    is_hindsight: bool = False
    as_json: bool = False
    reward: str | None = None
    step: str | None = None

    def check(self) -> None:
        """Raise CurveError for the first option that cannot be meant."""
        check_level(self.level)
        if self.upto is not None and not 0 < self.upto <= 1:
            raise CurveError(
                f"--upto is a share of the curve, above 0 and at most 1, such as 0.3, but got {self.upto:g}"
            )
        if self.horizon is not None and self.horizon < 1:
            raise CurveError(f"--horizon is a step, 1 or later, but got {self.horizon}")
        if self.plot is not None:
            _check_plot(self.plot)
        if self.is_hindsight:
            self._check_hindsight()

    def _check_hindsight(self) -> None:
        given = {"--upto": self.upto, "--horizon": self.horizon, "--plot": self.plot}
        for name, value in given.items():
            if value is not None:
                raise CurveError(f"--backtest looks back from a finished curve's own end: leave out {name} {value}")

    def early(self, curve: RewardCurve) -> tuple[RewardCurve, int | None]:
        """The part of `curve` that may be used, and its horizon where one is set."""
        if self.upto is None:
            _refuse_past(curve, self.horizon)
            return curve, self.horizon
        last = self.horizon or curve.max_steps or (curve.steps[-1] if len(curve) else 1)
        part = curve.upto(round(self.upto * last))
        _refuse_past(part, last)
        return part, last


def check_level(level: float) -> None:
    """Raise CurveError for a level that is no probability."""
    if not 0 < level < 1:
        raise CurveError(f"--level is a probability between 0 and 1, such as 0.8, but got {level:g}")


def _check_plot(path: Path) -> None:
    if path.suffix.lower() not in _PICTURES:
        raise CurveError(f"--plot {path} must end in {' or '.join(_PICTURES)}, which says what kind of picture to draw")
    if not path.parent.is_dir():
        raise CurveError(f"--plot {path} cannot be written: there is no folder {path.parent}; make it first")


def _refuse_past(curve: RewardCurve, horizon: int | None) -> None:
    last = curve.steps[-1] if len(curve) else 1
    if horizon is not None and horizon < last:
        raise CurveError(
            f"--horizon {horizon} is before the curve's last step {last}; give a later step, or --upto SHARE as well "
            "to use the first part of the curve only"
        )
