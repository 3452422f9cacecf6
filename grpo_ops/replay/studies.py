"""One replicate: recorded trials, in a given order, through a real Optuna study with a real pruner."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import optuna
from optuna.pruners import BasePruner
from optuna.samplers import RandomSampler
from optuna.storages import InMemoryStorage
from optuna.trial import TrialState

from grpo_ops.pruning import DECISION_ATTRIBUTE, PruneReason
from grpo_ops.replay.protocol import Ended, Replicate
from grpo_ops.replay.trials import ReplayTrial, Report

_SAMPLER = RandomSampler(seed=0)  # nothing is sampled: the trials are known


def run_study(
    name: str, trials: Sequence[ReplayTrial], reports: Sequence[Sequence[Report]], pruner: BasePruner, workers: int
) -> Replicate:
    """Start `trials` in their order, each on the worker that is free first; time is counted in steps.

    A trial reports its values when their steps are done, and asks should_prune after each; one that goes through tells
    its score. One that stops on a plateau is complete and tells the level it had. name: of the study, from which
    Hyperband draws its brackets.
    """
    study = optuna.create_study(
        storage=InMemoryStorage(), study_name=name, direction="maximize", sampler=_SAMPLER, pruner=pruner
    )
    run = _Run(study, iter(zip(trials, reports, strict=True)))
    for _ in range(workers):
        run.start(0)
    while run.queue:
        run.advance(*heapq.heappop(run.queue))
    return run.found


@dataclass
class _Live:
    """A running trial, which began at `since` and has reported `done` values."""

    recorded: ReplayTrial
    reports: Sequence[Report]
    since: int
    trial: optuna.Trial
    done: int = 0

    @property
    def due(self) -> int:
        """When it reports next, or after its last report when its last step is done."""
        return self.since + (self.recorded.steps if self.is_reported else self.reports[self.done].cost)

    @property
    def is_reported(self) -> bool:
        return self.done == len(self.reports)


@dataclass
class _Run:
    study: optuna.Study
    waiting: Iterator[tuple[ReplayTrial, Sequence[Report]]]
    live: dict[int, _Live] = field(default_factory=dict)
    queue: list[tuple[int, int]] = field(default_factory=list)
    found: Replicate = field(default_factory=Replicate)

    def start(self, now: int) -> None:
        """Start the next trial, if there is one left."""
        following = next(self.waiting, None)
        if following is not None:
            one = _Live(*following, now, self.study.ask())
            self.live[one.trial.number] = one
            heapq.heappush(self.queue, (one.due, one.trial.number))

    def advance(self, now: int, number: int) -> None:
        """Report the next value of a trial and ask; where it ends, its worker starts the next one."""
        one = self.live[number]
        stops = not one.is_reported and self._reported(one)
        if not stops and (not one.is_reported or now < one.due):
            heapq.heappush(self.queue, (one.due, number))
            return
        del self.live[number]
        self._end(one, one.reports[one.done - 1], stops)
        self.start(now)

    def _reported(self, one: _Live) -> bool:
        report = one.reports[one.done]
        one.trial.report(report.value, report.step)
        one.done += 1
        return self._asked(one.trial)

    def _asked(self, trial: optuna.Trial) -> bool:
        begun = perf_counter()
        stops = trial.should_prune()
        self.found.seconds += perf_counter() - begun
        self.found.decisions += 1
        return stops

    def _end(self, one: _Live, report: Report, stops: bool) -> None:
        recorded, steps = one.recorded, report.cost if stops else one.recorded.steps
        if stops and not _is_plateau(self.study, one.trial):
            self.study.tell(one.trial, state=TrialState.PRUNED)
            self.found.ended.append(Ended(recorded, steps, None, recorded.score > self._incumbent()))
            return
        worth = recorded.level_until(report.step) if stops else recorded.score
        self.study.tell(one.trial, worth)
        self.found.ended.append(Ended(recorded, steps, worth))

    def _incumbent(self) -> float:
        kept = [ended.worth for ended in self.found.ended if ended.worth is not None]
        return max(kept or [one.recorded.score for one in self.live.values()], default=float("-inf"))


def _is_plateau(study: optuna.Study, trial: optuna.Trial) -> bool:
    last = study._storage.get_trial(trial._trial_id).user_attrs.get(DECISION_ATTRIBUTE)
    return isinstance(last, dict) and last.get("stop") is True and last.get("reason") == PruneReason.PLATEAU.value
