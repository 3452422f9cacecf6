"""backtest(): what would have been said early in finished runs, against what happened.

The truth is a run's final level, the mean of its last tenth. Of a sweep, each draw takes one run at random and, as its
siblings, some of the others; errors, CRPS and widths are in units of the range of the sweep's final levels plus two
standard errors. A single curve has no siblings, and its unit is its own smoothed range plus two standard errors.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy.special import ndtri

from grpo_ops.law import Pool, forecast
from grpo_ops.law.series import Series, trailing_mean
from grpo_ops.replay.finished import only_finished
from grpo_ops.replay.rows import BacktestRow
from grpo_ops.replay.scores import Score, normal, point, scored
from grpo_ops.replay.sources import Source

PROGRESS = (0.1, 0.2, 0.3, 0.5, 0.7)
FEWEST_RUNS = 7
DRAWS = 50
_WIDER = 1.2
_FEWEST_POINTS = 3

Methods: TypeAlias = dict[tuple[str, int], list[Score]]


def backtest(
    sources: Sequence[Source],
    siblings: int = 5,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    level: float = 0.8,
    progress: Sequence[float] = PROGRESS,
) -> list[BacktestRow]:
    """Rows for each source, progress and method, in this order.

    Methods: `law` (forecast()), `last_value` (the mean of the recent rewards), `calibrated_last_value` (plus the mean
    change that the siblings still had from there, with 1.2 standard deviations of it as sd). `law` also without
    siblings, on the same draws. Trials that were ended early are left out (`only_finished`), and sweeps of fewer than 7
    runs count as single curves. seed: of the draws, for each source
    anew, so that a source's rows do not depend on the others.
    """
    return [row for source in sources for row in _rows(only_finished(source), siblings, draws, seed, level, progress)]


def _rows(
    source: Source, siblings: int, draws: int, seed: int, level: float, progress: Sequence[float]
) -> Iterator[BacktestRow]:
    field = _Field.of(source)
    chosen = _draws(field, source, siblings, draws, seed)
    for share in progress:
        methods: Methods = {}
        for run, others in chosen:
            _say(field, run, others, share, level, methods)
        for (method, count), scores in methods.items():
            yield BacktestRow.of(source.name, share, method, count, scores)


def _draws(field: "_Field", source: Source, siblings: int, draws: int, seed: int) -> list[tuple[int, Sequence[int]]]:
    """(run, its siblings) of each draw; a source without siblings has one draw a run."""
    runs = len(field.series)
    if not source.is_sweep or runs < FEWEST_RUNS or siblings < 1:
        return [(run, ()) for run in range(runs)]
    random = np.random.default_rng(seed)
    orders = [random.permutation(runs).tolist() for _ in range(draws)]
    return [(order[0], order[1 : siblings + 1]) for order in orders]


@dataclass(frozen=True)
class _Field:
    """A source's runs, prepared. units: of each run's errors."""

    source: Source
    series: tuple[Series, ...]
    pool: Pool
    units: tuple[float, ...]

    @classmethod
    def of(cls, source: Source) -> "_Field":
        """Curves of fewer than three points are left out."""
        kept = [index for index, curve in enumerate(source.curves) if len(curve) >= _FEWEST_POINTS]
        curves, params = [source.curves[i] for i in kept], [source.params[i] for i in kept]
        only = Source(source.name, tuple(curves), tuple(params), source.is_sweep)
        series = tuple(Series.of(curve, curve.steps[-1]) for curve in curves)
        shared = source.is_sweep and len(series) >= FEWEST_RUNS
        ended = [replace(curve, max_steps=curve.steps[-1]) for curve in curves]
        return cls(only, series, Pool.of(ended, params), _sweep_units(series) if shared else _own_units(series))


def _say(field: _Field, run: int, others: Sequence[int], share: float, level: float, methods: Methods) -> None:
    """Add each method's score for one run after `share` of it."""
    series, curve, unit = field.series[run], field.source.curves[run], field.units[run]
    count = max(_FEWEST_POINTS, series.count_at(share))
    early, truth = curve.head(count), series.final
    last = series.recent(count)
    params, horizon = field.source.params[run], series.horizon
    if len(others):
        found = forecast(early, horizon, field.pool.only(others), level, params=params)
        methods.setdefault(("law", len(others)), []).append(scored(found, truth, unit))
    methods.setdefault(("law", 0), []).append(scored(forecast(early, horizon, level=level), truth, unit))
    methods.setdefault(("last_value", 0), []).append(point(last, truth, unit))
    if len(others) > 1:
        changes = [_change(field.series[other], series.x[count - 1]) for other in others]
        sd = _WIDER * float(np.std(changes, ddof=1))
        score = normal(last + float(np.mean(changes)), sd, sd * float(ndtri((1 + level) / 2)), truth, unit)
        methods.setdefault(("calibrated_last_value", len(others)), []).append(score)


def _change(series: Series, progress: float) -> float:
    return series.final - series.recent(max(1, series.count_at(progress)))


def _sweep_units(series: Sequence[Series]) -> tuple[float, ...]:
    finals = [one.final for one in series]
    error = float(np.median([one.noise / np.sqrt(one.window) for one in series]))
    return (float(np.ptp(finals)) + 2 * error or 1.0,) * len(series)


def _own_units(series: Sequence[Series]) -> tuple[float, ...]:
    return tuple(_own_unit(one) for one in series)


def _own_unit(series: Series) -> float:
    window = min(len(series), series.window)
    smooth = trailing_mean(series.y, window)[window - 1 :]
    return float(np.ptp(smooth)) + 2 * series.noise / float(np.sqrt(window)) or 1.0
