"""Fit the constants of the forecasts (grpo_ops/law/constants.py) on recorded sweeps, and print them with their scores.

    python -m benchmarks.calibrate [SWEEP.json ...] [--test SWEEP.json ...]

Without arguments: on benchmarks/sweeps, those in HELD_OUT left out, and on the three starter sweeps of ../shared/curves
where it is there. The loss of a forecast is its CRPS plus a quarter of its 80 % interval score, in units of its sweep;
sweeps, progress and numbers of siblings weigh equally.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.special import stdtrit

from grpo_ops.law import Pool
from grpo_ops.law.alone import alone
from grpo_ops.law.constants import Alone, Pooled
from grpo_ops.law.pooling import Cohort, pooled
from grpo_ops.law.series import Series
from grpo_ops.law.standing import standing
from grpo_ops.replay import Source, load_sources
from grpo_ops.replay.scores import crps_t

FOLDER = Path(__file__).parent / "sweeps"
BESIDE = Path(__file__).parents[2] / "shared" / "curves" / "sweeps"
PROGRESS = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7)
SIBLINGS = (2, 5, 12)
DRAWS = 40
LEVEL = 0.8
TINY = 1e-9  # a forecast that is certain has the CRPS of a point
START_ALONE = Alone(0.5, 0.5, 3.0, 0.1, 1.0, 1.0, 1.0, df=6.0, widening_start=1.0, widening_end=1.0)
START_POOLED = Pooled(
    0.5, 0.5, 0.2, 1.0, 0.5, 0.2, 1.0, 1.0, 1.0, 1.0, 3.0, 1.0, 1.0, df=5.0, widening_start=1.0, widening_end=1.0
)
STAY = 0.002  # pull of each constant towards where the search starts, so that one that does not matter stays there


Constants: TypeAlias = tuple[Pooled, Alone]


@dataclass(frozen=True, eq=False)
class Case:
    """Many forecasts in one sweep at one progress with one number of siblings. unit: of the sweep's errors."""

    name: str
    siblings: int
    cohort: Cohort
    truth: np.ndarray
    unit: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sweeps", nargs="*", type=Path)
    parser.add_argument("--test", nargs="*", type=Path, default=[])
    arguments = parser.parse_args()
    training = cases(load_sources(arguments.sweeps or recorded()))
    constants, left_out = fitted(training)
    print(rendered(*constants))
    report("left out, one at a time:", training, left_out)
    if arguments.test:
        tested = cases(load_sources(arguments.test))
        report("tested on", tested, dict.fromkeys([case.name for case in tested], constants))


def recorded() -> list[Path]:
    """The starter sweeps of this project without those held out, and those that lie beside it."""
    held_out = (FOLDER / "HELD_OUT").read_text().split()
    own = [path for path in sorted(FOLDER.glob("*.json")) if path.stem not in held_out]
    return own + sorted(BESIDE.glob("starter-*.json"))


def cases(sources: Sequence[Source], seed: int = 0) -> list[Case]:
    """All forecasts to be scored, prepared once."""
    return [case for source in sources if len(source.curves) > min(SIBLINGS) for case in _cases(source, seed)]


def _cases(source: Source, seed: int) -> list[Case]:
    series = [Series.of(curve, curve.steps[-1]) for curve in source.curves]
    ended = [replace(curve, max_steps=curve.steps[-1]) for curve in source.curves]
    pool, finals = Pool.of(ended, source.params), np.array([one.final for one in series])
    error = float(np.median([one.noise / np.sqrt(one.window) for one in series]))
    unit, random = float(np.ptp(finals)) + 2 * error, np.random.default_rng(seed)
    orders = np.array([random.permutation(len(series)) for _ in range(DRAWS)])
    result = []
    for progress in PROGRESS:
        now = np.stack([_standing(one, progress) for one in series], axis=-1)
        for siblings in sorted({min(count, len(series) - 1) for count in SIBLINGS}):
            chosen = orders[:, : siblings + 1]
            result.append(Case(source.name, siblings, _cohort(pool, now, chosen, progress), finals[chosen[:, 0]], unit))
    return result


def _standing(series: Series, progress: float) -> np.ndarray:
    count = max(3, series.count_at(progress))
    return standing(Series(series.y[:count], series.steps[:count], series.n, series.spacing, series.horizon))


def _cohort(pool: Pool, now: np.ndarray, chosen: np.ndarray, progress: float) -> Cohort:
    others = chosen[:, 1:]
    variances = np.array([track.final_variance for track in pool.tracks])
    finals = np.array([track.final for track in pool.tracks])
    return Cohort(
        now=np.moveaxis(now[:, chosen], 0, 1),
        finals=finals[others],
        final_variances=variances[others],
        coordinates=pool.hyperparameters.coordinates[chosen],
        progress=progress,
    )


def fitted(training: Sequence[Case]) -> tuple[Constants, dict[str, Constants]]:
    """The constants, and for each sweep those that were fitted on the others, all with the same widening.

    First come the constants without siblings, then, on their scale, those with; then both are widened until the bands
    hold what they say on the sweeps that were left out, one at a time.
    """
    names = sorted({case.name for case in training})
    best = _best(training)
    left_out = {name: _best([case for case in training if case.name != name]) for name in names if len(names) > 1}
    others = left_out or dict.fromkeys(names, best)
    alone_by = _widening(training, {name: _say_alone(own) for name, (_, own) in others.items()}, max(SIBLINGS[:2]))
    pooled_by = _widening(training, {name: _say_pooled(*own) for name, own in others.items()})
    results = {name: (widened(found, pooled_by), widened(own, alone_by)) for name, (found, own) in others.items()}
    return (widened(best[0], pooled_by), widened(best[1], alone_by)), results


def _best(training: Sequence[Case]) -> Constants:
    scale = _best_alone(training)
    return _best_pooled(training, scale), scale


def _best_alone(training: Sequence[Case]) -> Alone:
    single = [case for case in training if case.siblings == max(SIBLINGS[:2])]
    return _searched(START_ALONE, lambda constants: _loss(single, _say_alone(constants)))


def _best_pooled(training: Sequence[Case], scale: Alone) -> Pooled:
    return _searched(START_POOLED, lambda constants: _loss(training, _say_pooled(constants, scale)))


def _say_alone(constants: Alone):
    return lambda case: _alone(case, constants)


def _say_pooled(constants: Pooled, scale: Alone):
    return lambda case: pooled(case.cohort, constants, scale)


def _alone(case: Case, constants: Alone):
    mean, scale = alone(case.cohort.now[..., 0], case.cohort.progress, constants)
    return mean, scale, constants.df


def _searched(start, loss):
    """The constants with the least loss; all but the degrees of freedom and the widening are searched."""
    names = [name for name in asdict(start) if name not in ("df", "widening_start", "widening_end")]
    signed = ("share_start", "share_end")
    first = np.array([getattr(start, name) if name in signed else np.log(getattr(start, name)) for name in names])

    def constants(vector: np.ndarray):
        values = {n: float(v) if n in signed else float(np.exp(v)) for n, v in zip(names, vector, strict=True)}
        return replace(start, **values)

    def penalised(vector: np.ndarray) -> float:
        return loss(constants(vector)) + STAY * float(np.mean((vector - first) ** 2))

    found = minimize(penalised, first, method="Powell", options={"maxiter": 4, "ftol": 1e-4})
    return constants(found.x)


def _loss(training: Sequence[Case], say) -> float:
    return float(np.mean([np.mean(_losses(case, *say(case))) for case in training]))


def _losses(case: Case, mean, scale, df) -> np.ndarray:
    half, miss = scale * stdtrit(df, (1 + LEVEL) / 2), np.abs(case.truth - mean)
    interval = 2 * half + 2 / (1 - LEVEL) * np.maximum(miss - half, 0)
    return (crps_t(mean, np.maximum(scale, TINY), df, case.truth) + interval / 4) / case.unit


def _widening(training: Sequence[Case], say, fewest: int = 0) -> np.ndarray:
    """The factors on the scale at progress 0 and 1 with which the bands hold LEVEL of the truths.

    Geometric in progress, through the factors that each progress needs on its own; sweeps weigh equally. The second is
    never above the first, so that more distance never narrows a band. say: by sweep, what is said of its cases.
    fewest: only cases with so many siblings, 0 for all.
    """
    used = [case for case in training if not fewest or case.siblings == fewest]
    factors = [_factor([case for case in used if case.cohort.progress == progress], say) for progress in PROGRESS]
    slope, level = np.polyfit(PROGRESS, np.log(factors), 1)
    slope = min(slope, 0.0)
    level = float(np.mean(np.log(factors) - slope * np.array(PROGRESS)))
    return np.exp([level, level + slope])


def _factor(used: Sequence[Case], say) -> float:
    factors, held = np.geomspace(0.4, 5, 400), []
    for case in used:
        mean, scale, df = say[case.name](case)
        half = scale * stdtrit(df, (1 + LEVEL) / 2)
        held.append(np.mean(np.abs(case.truth - mean)[:, None] <= half[:, None] * factors, axis=0))
    return float(np.interp(LEVEL, np.mean(held, axis=0), factors))


def widened(constants, factors: np.ndarray):
    return replace(constants, widening_start=float(factors[0]), widening_end=float(factors[1]))


def report(title: str, tested: Sequence[Case], constants: Mapping[str, Constants]) -> None:
    """CRPS, coverage and width for each number of siblings, by progress, means over the sweeps."""
    print(f"\n{title} {', '.join(sorted({case.name for case in tested}))}: CRPS / coverage / width")
    print("siblings " + "".join(f"{progress:>18.0%}" for progress in PROGRESS))
    for siblings in (0, *SIBLINGS):
        cells = [_cell(tested, siblings, progress, constants) for progress in PROGRESS]
        print(f"{siblings:>8} " + "".join(f"{cell:>18}" for cell in cells))


def _cell(tested: Sequence[Case], siblings: int, progress: float, constants: Mapping[str, Constants]) -> str:
    rows = []
    for case in tested:
        if case.cohort.progress != progress or case.siblings != (siblings or 5):
            continue
        found, own = constants[case.name]
        mean, width, df = pooled(case.cohort, found, own) if siblings else _alone(case, own)
        half = width * stdtrit(df, (1 + LEVEL) / 2)
        crps = crps_t(mean, np.maximum(width, TINY), df, case.truth) / case.unit
        rows.append((crps.mean(), np.mean(np.abs(case.truth - mean) <= half), np.mean(2 * half) / case.unit))
    return "/".join(f"{value:.3f}"[1 if value < 1 else 0 :] for value in np.mean(rows, axis=0)) if rows else "-"


def rendered(found: Pooled, scale: Alone) -> str:
    """The constants as they stand in grpo_ops/law/constants.py."""
    return "\n".join(
        f"{title} = {type(values).__name__}(\n"
        + "".join(f"    {name}={value:.3g},\n" for name, value in asdict(values).items())
        + ")"
        for title, values in (("ALONE", scale), ("POOLED", found))
    )


if __name__ == "__main__":
    main()
