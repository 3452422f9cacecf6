"""replay(): what each pruner would have saved and lost on recorded sweeps, through real Optuna studies."""

import multiprocessing
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import optuna
from optuna.exceptions import ExperimentalWarning

from grpo_ops.replay.protocol import Outcome, Replicate, orders
from grpo_ops.replay.rules import Candidate, Plan, candidates
from grpo_ops.replay.studies import run_study
from grpo_ops.replay.sweep_rows import SweepRow
from grpo_ops.replay.trials import Report, Sweep

REPLICATES = 100


@dataclass(frozen=True)
class Protocol:
    """How sweeps are replayed. subsets: each replicate takes only some of the trials (see `subset_size`)."""

    subsets: bool = False
    replicates: int = REPLICATES
    seed: int = 0


def replay(
    sweeps: Sequence[Sweep],
    rules: Sequence[Candidate] | None = None,
    protocol: Protocol | None = None,
    *,
    workers: Sequence[int] = (1,),
    jobs: int = 1,
) -> Iterator[SweepRow]:
    """A row for each number of workers, sweep and candidate, in this order, as soon as it is known.

    Each replicate takes trials of a sweep in random order and runs them through an Optuna study of its own. The draws
    depend on the seed and on the sweep alone, so that every rule meets the same ones. A candidate that needs outcomes
    is left out where a sweep has none. jobs: processes that share the work, which changes no row but its milliseconds.
    """
    chosen = candidates() if rules is None else rules
    tasks = [
        (sweep, candidate, count, protocol or Protocol())
        for count in workers
        for sweep in sweeps
        for candidate in chosen
        if not candidate.needs_outcomes or sweep.has_outcomes
    ]
    if jobs == 1:
        yield from map(_row, tasks)
        return
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(_row, tasks)


def _row(task: tuple[Sweep, Candidate, int, Protocol]) -> SweepRow:
    sweep, candidate, workers, protocol = task
    reports = [trial.blocks(candidate.block) if candidate.block else trial.reports for trial in sweep.trials]
    drawn = orders(sweep.name, len(sweep.trials), protocol.replicates, protocol.subsets, protocol.seed)
    with _quiet_optuna():
        found = [_replicate(sweep, reports, candidate, workers, number, order) for number, order in enumerate(drawn)]
    outcomes = [Outcome.of(one, sweep) for one in found]
    ms = 1000 * sum(one.seconds for one in found) / sum(one.decisions for one in found)
    return SweepRow.of(sweep.name, candidate.rule, candidate.setting, workers, outcomes, ms)


def _replicate(
    sweep: Sweep,
    reports: Sequence[Sequence[Report]],
    candidate: Candidate,
    workers: int,
    number: int,
    order: Sequence[int],
) -> Replicate:
    trials = [sweep.trials[index] for index in order]
    pruner = candidate.build(Plan(trials, sweep.last_step))
    return run_study(f"{sweep.name}-{number}", trials, [reports[index] for index in order], pruner, workers)


@contextmanager
def _quiet_optuna() -> Iterator[None]:
    """Without a line for each study and trial, and without the warning that a pruner is experimental."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)
