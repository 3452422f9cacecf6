"""Fit the constants of the forecasts (grpo_ops/law/constants.py) on recorded sweeps, and print them with their scores.

    python -m benchmarks.calibrate [SWEEP.json ...] [--test SWEEP.json ...] [--cross-validate]

Without arguments: on benchmarks/sweeps, those in HELD_OUT left out. The loss of a forecast is its CRPS plus a quarter
of its 80 % interval score, in units of its sweep; sweeps, progress and numbers of siblings weigh equally.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.special import stdtrit

from benchmarks.losses import crps_t
from grpo_ops.law import Pool
from grpo_ops.law.alone import alone
from grpo_ops.law.constants import ALONE, POOLED, Alone, Pooled
from grpo_ops.law.pooling import Cohort, pooled
from grpo_ops.law.series import Series
from grpo_ops.law.standing import standing
from grpo_ops.replay import Source, load_sources

FOLDER = Path(__file__).parent / "sweeps"
PROGRESS = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7)
SIBLINGS = (2, 5, 12)
DRAWS = 40
LEVEL = 0.8
STAY = 0.002  # pull of each constant towards where the search starts, so that one that does not matter stays there


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
    parser.add_argument("--cross-validate", action="store_true")
    arguments = parser.parse_args()
    held_out = (FOLDER / "HELD_OUT").read_text().split()
    own = [path for path in sorted(FOLDER.glob("*.json")) if path.stem not in held_out]
    training = cases(load_sources(arguments.sweeps or own))
    found, scale = fitted(training)
    print(rendered(scale, found))
    report("trained on", training, found, scale)
    if arguments.test:
        report("tested on", cases(load_sources(arguments.test)), found, scale)
    if arguments.cross_validate:
        cross_validate(training)


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
    count = max(3, int(np.searchsorted(series.x, progress * (1 + 1e-9), side="right")))
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


def fitted(training: Sequence[Case]) -> tuple[Pooled, Alone]:
    """First the constants without siblings, then, on their scale, those with; each widened to hold what it says."""
    single = [case for case in training if case.siblings == max(SIBLINGS[:2])]
    scale = _searched(ALONE, lambda constants: _loss(single, lambda case: _alone(case, constants)))
    scale = replace(scale, widening=scale.widening * _widening(single, lambda case: _alone(case, scale)))
    found = _searched(POOLED, lambda constants: _loss(training, lambda case: pooled(case.cohort, constants, scale)))
    wider = _widening(training, lambda case: pooled(case.cohort, found, scale))
    return replace(found, widening=found.widening * wider), scale


def _alone(case: Case, constants: Alone):
    mean, scale = alone(case.cohort.now[..., 0], case.cohort.progress, constants)
    return mean, scale, constants.df


def _searched(start, loss):
    """The constants with the least loss; all but the degrees of freedom and the widening are searched."""
    names = [name for name in asdict(start) if name not in ("df", "widening")]
    signed = ("share_start", "share_end", "by_gain")
    first = np.array([getattr(start, name) if name in signed else np.log(getattr(start, name)) for name in names])

    def constants(vector: np.ndarray):
        values = {n: float(v) if n in signed else float(np.exp(v)) for n, v in zip(names, vector, strict=True)}
        if "by_gain" in values:
            values["by_gain"] = float(np.clip(values["by_gain"], 0, 1))
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
    return (crps_t(mean, scale, df, case.truth) + interval / 4) / case.unit


def _widening(training: Sequence[Case], say) -> float:
    """The factor on the scale with which the bands hold LEVEL of the truths, sweeps and progress weighing equally."""
    factors = np.geomspace(0.5, 3, 200)
    held = []
    for case in training:
        mean, scale, df = say(case)
        half = scale * stdtrit(df, (1 + LEVEL) / 2)
        held.append(np.mean(np.abs(case.truth - mean)[:, None] <= half[:, None] * factors, axis=0))
    return float(np.interp(LEVEL, np.mean(held, axis=0), factors))


def report(title: str, tested: Sequence[Case], found: Pooled, scale: Alone) -> None:
    """CRPS, coverage and width for each number of siblings, by progress, means over the sweeps."""
    print(f"\n{title} {', '.join(sorted({case.name for case in tested}))}: CRPS / coverage / width")
    print("siblings " + "".join(f"{progress:>18.0%}" for progress in PROGRESS))
    for siblings in (0, *SIBLINGS):
        cells = [_cell(tested, siblings, progress, found, scale) for progress in PROGRESS]
        print(f"{siblings:>8} " + "".join(f"{cell:>18}" for cell in cells))


def _cell(tested: Sequence[Case], siblings: int, progress: float, found: Pooled, scale: Alone) -> str:
    rows = []
    for case in tested:
        if case.cohort.progress != progress or case.siblings != (siblings or 5):
            continue
        mean, width, df = pooled(case.cohort, found, scale) if siblings else _alone(case, scale)
        half = width * stdtrit(df, (1 + LEVEL) / 2)
        crps = crps_t(mean, width, df, case.truth) / case.unit
        rows.append((crps.mean(), np.mean(np.abs(case.truth - mean) <= half), np.mean(2 * half) / case.unit))
    return " / ".join(f"{value:.3f}"[1 if value < 1 else 0 :] for value in np.mean(rows, axis=0)) if rows else "-"


def cross_validate(training: Sequence[Case]) -> None:
    """Each sweep by constants that were fitted on the others."""
    for name in sorted({case.name for case in training}):
        rest = [case for case in training if case.name != name]
        report("left out:", [case for case in training if case.name == name], *fitted(rest))


def rendered(scale: Alone, found: Pooled) -> str:
    """The constants as they stand in grpo_ops/law/constants.py."""
    return "\n".join(
        f"{title} = {type(values).__name__}(\n"
        + "".join(f"    {name}={value:.3g},\n" for name, value in asdict(values).items())
        + ")"
        for title, values in (("ALONE", scale), ("POOLED", found))
    )


if __name__ == "__main__":
    main()
