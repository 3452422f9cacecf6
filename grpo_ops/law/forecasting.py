"""forecast(): where a run will end, with a band that says what it rests on."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grpo_ops.curve import RewardCurve
from grpo_ops.errors import LawError
from grpo_ops.law.closed_form import Mixture, mixture
from grpo_ops.law.forecast_types import Forecast, PathPoint
from grpo_ops.law.hyperparameters import Params
from grpo_ops.law.onset import Onset, onset
from grpo_ops.law.outlook import Outlook, outlook, unit_reach
from grpo_ops.law.phases import PhaseSpan, phases
from grpo_ops.law.pool import Pool
from grpo_ops.law.series import Series, trailing_mean
from grpo_ops.law.types import FitStatus, Floats, Phase

PLATEAU_SHARE = 0.05
_FEWEST_POINTS = 3
_PATH_POINTS = 24
_COLLAPSE_SHARE = 0.5
_SURE = 3.0


def forecast(
    curve: RewardCurve,
    horizon: int | None = None,
    siblings: Sequence[RewardCurve] | Pool = (),
    level: float = 0.8,
    *,
    params: Params | None = None,
    plateau_share: float = PLATEAU_SHARE,
) -> Forecast:
    """The level that `curve` will have at `horizon` (default: its planned last step).

    siblings: other runs of the same study, as curves or as a Pool that was prepared once; from two finished ones on
    they set mean and band. level: probability that the band holds. params: the run's hyperparameters, for a Pool that
    knows those of its runs. plateau_share: the plateau begins where less than this part of the whole gain is left.
    More reward is taken to be better for phases, collapse and plateau alone.
    Raises LawError for a level or a share outside (0, 1) and a horizon before the last step; a curve that is too short,
    constant or beyond what floats can square gets a forecast whose status says so.
    """
    _check(curve, horizon, level, plateau_share)
    series, pool = Series.of(curve, horizon), siblings if isinstance(siblings, Pool) else Pool.of(siblings)
    if len(series) < _FEWEST_POINTS or series.is_beyond_floats:
        return _nothing_known(series, level)
    ahead = outlook(series, pool, params)
    if series.is_constant and series.last_step < series.horizon and ahead.calibration != "siblings":
        return _never_moved(series, level)
    return _View(series, ahead, level, plateau_share).forecast()


@dataclass(frozen=True)
class _View:
    """What a forecast is made of."""

    series: Series
    ahead: Outlook
    level: float
    plateau_share: float

    def forecast(self) -> Forecast:
        series, ahead, half = self.series, self.ahead, self.ahead.reach(self.level)
        law = None if series.is_constant else mixture(series)
        plateau = None if law is None else onset(series, law, self.plateau_share, self.level)
        spans = phases(series, ahead.mean)
        plateau = plateau if plateau and _agrees(spans[-1].phase, plateau, series) else None
        following, spread = self._following(law)
        return Forecast(
            mean=ahead.mean,
            sd=ahead.sd,
            low=ahead.mean - half,
            high=ahead.mean + half,
            level=self.level,
            horizon=series.horizon,
            step=series.last_step,
            last_value=series.recent(),
            noise=series.noise,
            phase=spans[-1].phase,
            plateau_step=plateau.step if plateau else None,
            calibration=ahead.calibration,
            status=_status(series, spans),
            path=self._path(law),
            df=ahead.df,
            next_mean=following,
            next_low=following - spread,
            next_high=following + spread,
            plateau_low=plateau.low if plateau else None,
            plateau_high=plateau.high if plateau else None,
            collapse_chance=1 - ahead.chance_above(_collapsed_below(series)),
            phases=spans,
        )

    def _following(self, law: Mixture | None) -> tuple[float, float]:
        """Mean of the next observation, and half the width of its band."""
        series = self.series
        steps = np.array([series.last_step + series.spacing])
        means, halves = self._levels(law, np.minimum(steps, max(series.horizon, series.last_step + 1)))
        one_point = series.noise / math.sqrt(1 - series.correlation)
        return float(means[0]), math.hypot(float(halves[0]), one_point * self._reach)

    def _path(self, law: Mixture | None) -> tuple[PathPoint, ...]:
        series = self.series
        steps = np.unique(np.linspace(series.last_step, series.horizon, _PATH_POINTS).round().astype(int))
        means, halves = self._levels(law, steps)
        return tuple(
            PathPoint(int(step), float(mean), float(mean - half), float(mean + half))
            for step, mean, half in zip(steps, means, halves, strict=True)
        )

    def _levels(self, law: Mixture | None, steps: Floats) -> tuple[Floats, Floats]:
        """Mean level at each of `steps` and half the width of its band, on the way from now to the horizon."""
        series, ahead = self.series, self.ahead
        done = np.clip((steps - series.last_step) / max(1, series.horizon - series.last_step), 0, 1)
        means = series.recent() + (ahead.mean - series.recent()) * _shape(law, series, steps, done)
        error = min(series.error(series.recent_count), ahead.scale)
        return means, self._reach * np.sqrt(error**2 + (ahead.scale**2 - error**2) * done)

    @property
    def _reach(self) -> float:
        """Half the width of the band in units of its scale."""
        return unit_reach(self.ahead.df, self.level)


def _agrees(phase: Phase, plateau: Onset, series: Series) -> bool:
    """A plateau that has begun while the run still rises, or that no gain leads to, is none."""
    if phase is Phase.RISE:
        return plateau.step > series.last_step
    return phase in (Phase.SLOW_START, Phase.PLATEAU)


def _collapsed_below(series: Series) -> float:
    """The level below which a run has lost more than half of its gain, by more than its noise."""
    window = series.recent_count
    best = float(np.max(trailing_mean(series.y, window)[window - 1 :]))
    return best - max(_COLLAPSE_SHARE * (best - series.start), _SURE * series.error(window))


def _status(series: Series, spans: tuple[PhaseSpan, ...]) -> FitStatus:
    if series.is_constant:
        return FitStatus.CONSTANT
    return FitStatus.POOR if spans[-1].phase is Phase.NO_SIGNAL else FitStatus.OK


def _shape(law: Mixture | None, series: Series, steps: Floats, done: Floats) -> Floats:
    """How much of the change still to come has come at each step, by the law; evenly where it expects none."""
    if law is None or series.horizon <= series.last_step:
        return done
    ends = [series.position(step) / series.n for step in (series.last_step, series.horizon)]
    levels = law.path(np.array([ends[0], *(series.position(int(step)) / series.n for step in steps), ends[1]]))
    change = levels[-1] - levels[0]
    even = abs(change) < 1e-9 * np.ptp(series.y)
    return done if even else np.clip((levels[1:-1] - levels[0]) / change, 0, 1)


def _nothing_known(series: Series, level: float) -> Forecast:
    status = FitStatus.TOO_FEW_POINTS if len(series) < _FEWEST_POINTS else FitStatus.FAILED
    with np.errstate(all="ignore"):  # what overflows is not known
        return _without_band(series, level, series.recent() if len(series) else math.nan, status)


def _never_moved(series: Series, level: float) -> Forecast:
    return _without_band(series, level, series.recent(), FitStatus.CONSTANT)


def _without_band(series: Series, level: float, last: float, status: FitStatus) -> Forecast:
    nan, place = math.nan, (level, series.horizon, series.last_step)
    return Forecast(last, nan, nan, nan, *place, last, series.noise, Phase.NO_SIGNAL, None, "none", status)


def _check(curve: RewardCurve, horizon: int | None, level: float, plateau_share: float) -> None:
    for name, value in (("level", level), ("plateau_share", plateau_share)):
        if not 0 < value < 1:
            raise LawError(f"{name} must lie between 0 and 1 but got {value}")
    if horizon is not None and horizon < max(1, curve.steps[-1] if curve.steps else 1):
        last = curve.steps[-1] if curve.steps else 0
        raise LawError(f"horizon {horizon} is before the curve's last step {last}; cut the curve with upto({horizon})")
