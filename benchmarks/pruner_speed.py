"""What a pruner's decision costs in a real study: LawPruner beside Optuna's MedianPruner.

python -m benchmarks.pruner_speed [--trials 10 50 200] [--steps 500]

One more trial reports each step to a study with so many finished trials, and asks after each report. `report` is the
mean over all reports, `check` the median over LawPruner's checks (for MedianPruner: over the same steps), both in ms of
`should_prune` alone; the ratio is LawPruner's to MedianPruner's mean. `first` is LawPruner's first decision, which
reads the finished trials once.
"""

import argparse
import statistics
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import optuna
from optuna.pruners import BasePruner, MedianPruner
from optuna.trial import create_trial

from grpo_ops.pruning import DECISION_ATTRIBUTE, LawPruner

Times = list[tuple[float, bool]]


def rewards(end: float, steps: int, seed: int) -> list[float]:
    """A saturating curve with noise of 0.03."""
    x = np.arange(1, steps + 1) / steps
    noise = np.random.default_rng(seed).normal(0, 0.03, steps)
    return [float(value) for value in end - (end - 0.2) * np.exp(-x / 0.25) + noise]


def study_with(finished: int, steps: int, storage: str | None) -> optuna.Study:
    study = optuna.create_study(direction="maximize", storage=storage)
    ends = np.random.default_rng(0).uniform(0.4, 0.85, finished)
    for seed, end in enumerate(ends):
        values = dict(enumerate(rewards(end, steps, seed), start=1))
        study.add_trial(create_trial(value=values[steps], intermediate_values=values))
    return study


def asked(study: optuna.Study, pruner: BasePruner, steps: int, seed: int) -> Times:
    """Seconds of should_prune after each report of a good trial, and whether a decision was stored with it."""
    study.pruner = pruner
    trial, times, seen = study.ask(), [], None
    for step, reward in enumerate(rewards(0.9, steps, seed), start=1):
        trial.report(reward, step)
        before = time.perf_counter()
        trial.should_prune()
        seconds = time.perf_counter() - before
        last = trial.user_attrs.get(DECISION_ATTRIBUTE)
        times.append((seconds, last != seen))
        seen = last
    study.tell(trial, reward)
    return times


def line(finished: int, steps: int, where: str, storage: str | None) -> str:
    study = study_with(finished, steps, storage)
    median = [asked(study, MedianPruner(), steps, seed) for seed in (1001, 1002)][-1]
    law_pruner = LawPruner(steps)
    cold, law = [asked(study, law_pruner, steps, seed) for seed in (1003, 1004)]
    checks = [index for index, (_, decided) in enumerate(law) if decided]
    means = [1e3 * statistics.mean(seconds for seconds, _ in times) for times in (law, median)]
    at_checks = [1e3 * statistics.median(times[index][0] for index in checks) for times in (law, median)]
    first = 1e3 * next(seconds for seconds, decided in cold if decided)
    worst = 1e3 * max(seconds for seconds, _ in law)
    return (
        f"{finished:6} {where:8} {means[0]:8.3f} {at_checks[0]:8.2f} {worst:8.2f} {first:8.2f} "
        f"{means[1]:10.3f} {at_checks[1]:8.3f} {means[0] / means[1]:8.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, nargs="+", default=[10, 50, 200])
    parser.add_argument("--steps", type=int, default=500)
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    print("                |          LawPruner, ms             | MedianPruner, ms  |")
    print("trials storage    report    check    worst    first     report    check    ratio")
    for finished in options.trials:
        print(line(finished, options.steps, "memory", None), flush=True)
        with tempfile.TemporaryDirectory() as folder:
            print(line(finished, options.steps, "sqlite", f"sqlite:///{Path(folder) / 'study.db'}"), flush=True)


if __name__ == "__main__":
    main()
