"""The pruners that a replay compares: each rule with the settings at which it is tried."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from optuna import pruners
from optuna.pruners import BasePruner

from grpo_ops.errors import CurveError
from grpo_ops.pruning import LawPruner, PruneRule
from grpo_ops.replay.own_pruners import CalibratedLastValuePruner, ClairvoyantPruner
from grpo_ops.replay.paired import RecordedPruner
from grpo_ops.replay.trials import ReplayTrial


@dataclass(frozen=True)
class Plan:
    """What a pruner may be built from. trials: as the study starts them; a clairvoyant rule looks into them.

    last_step: the longest planned step of any trial.
    """

    trials: Sequence[ReplayTrial]
    last_step: int

    def part(self, share: float) -> int:
        """This share of the longest run in steps, at least one."""
        return max(1, round(share * self.last_step))


Build: TypeAlias = Callable[[Plan], BasePruner]


@dataclass(frozen=True)
class Candidate:
    """One rule at one setting. block: share of a run whose mean is one report, 0 for every value as recorded.

    needs_outcomes: judges evaluations prompt by prompt, so that it runs on no other sweep.
    """

    rule: str
    setting: str
    build: Build
    block: float = 0.0
    needs_outcomes: bool = False


_TENTH = 0.1  # pruners that compare single values do better on means of neighbours
#: Keyword arguments of LawPruner, by the name of the setting.
LAW: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "caution 0.4": {"caution": 0.4},
    "caution 0.5": {"caution": 0.5},
    "caution 0.8": {"caution": 0.8},
    "caution 1.0": {"caution": 1.0},
    "plateau": {"plateau": True},
}
#: Fields of PruneRule for the judge that sees each prompt's outcome.
PAIRED: Mapping[str, Mapping[str, Any]] = {
    "paired": {"metric": "eval_reward"},
    "paired, plateau": {"metric": "eval_reward", "plateau": True},
}


def candidates(rules: Sequence[str] | None = None) -> list[Candidate]:
    """All candidates of these rules, of every rule without them.

    Raises CurveError for a rule that does not exist.
    """
    known = list(_all())
    names = list(dict.fromkeys(candidate.rule for candidate in known))
    for rule in rules or ():
        if rule not in names:
            raise CurveError(f"there is no rule {rule!r}: give all, or some of {', '.join(names)}")
    return [candidate for candidate in known if rules is None or candidate.rule in rules]


def _all() -> Iterator[Candidate]:
    yield Candidate("none", "default", _none)
    yield from _by_rank()
    yield from _halving()
    yield Candidate("patient", "median, 10% patience", _patient)
    for p in (0.05, 0.1, 0.2):
        yield Candidate("wilcoxon", f"p {p:g}", partial(_wilcoxon, p), block=0.05)
    for caution in (0.6, 1.0, 1.5, 2.0):
        yield Candidate("calibrated_last_value", f"caution {caution:.1f}", partial(_calibrated, caution))
    yield from _law()
    for first in (0.2, 0.1):
        yield Candidate("clairvoyant", f"from {first:.0%}", partial(_clairvoyant, first))


def _by_rank() -> Iterator[Candidate]:
    yield Candidate("median", "default", partial(_percentile, 50.0, 0.0))
    for share in (0.2, 0.5):
        yield Candidate("median", f"warm-up {share:.0%}", partial(_percentile, 50.0, share))
    for share in (0.0, 0.2, 0.5):
        name = f"means of 10%, warm-up {share:.0%}" if share else "means of 10%"
        yield Candidate("median", name, partial(_percentile, 50.0, share), block=_TENTH)
    for percentile in (25.0, 75.0):
        yield Candidate("percentile", f"{percentile:.0f}", partial(_percentile, percentile, 0.0))
        yield Candidate("percentile", f"{percentile:.0f}, warm-up 20%", partial(_percentile, percentile, 0.2))
    yield Candidate("percentile", "means of 10%, 25, warm-up 20%", partial(_percentile, 25.0, 0.2), block=_TENTH)


def _halving() -> Iterator[Candidate]:
    yield Candidate("sha", "default", _sha_default)
    for share, factor in ((0.2, 3), (0.2, 2), (0.1, 3), (0.1, 2)):
        yield Candidate("sha", f"min {share:.0%}, factor {factor}", partial(_sha, share, factor))
    for factor in (3, 2):
        name = f"means of 10%, min 20%, factor {factor}"
        yield Candidate("sha", name, partial(_sha, 0.2, factor), block=_TENTH)
    for factor in (3, 2):
        yield Candidate("hyperband", f"min 10%, factor {factor}", partial(_hyperband, 0.1, factor))


def _law() -> Iterator[Candidate]:
    for setting, options in LAW.items():
        yield Candidate("law", setting, partial(_law_pruner, options))
    for setting, fields in PAIRED.items():
        yield Candidate("law", setting, partial(_recorded, fields), needs_outcomes=True)


def _none(plan: Plan) -> BasePruner:
    return pruners.NopPruner()


def _percentile(percentile: float, warm_up: float, plan: Plan) -> BasePruner:
    return pruners.PercentilePruner(percentile, n_warmup_steps=plan.part(warm_up) if warm_up else 0)


def _sha_default(plan: Plan) -> BasePruner:
    return pruners.SuccessiveHalvingPruner()


def _sha(share: float, factor: int, plan: Plan) -> BasePruner:
    return pruners.SuccessiveHalvingPruner(min_resource=plan.part(share), reduction_factor=factor)


def _hyperband(share: float, factor: int, plan: Plan) -> BasePruner:
    return pruners.HyperbandPruner(plan.part(share), plan.last_step, factor)


def _patient(plan: Plan) -> BasePruner:
    return pruners.PatientPruner(pruners.MedianPruner(), patience=plan.part(0.1))


def _wilcoxon(p: float, plan: Plan) -> BasePruner:
    return pruners.WilcoxonPruner(p_threshold=p)


def _calibrated(caution: float, plan: Plan) -> BasePruner:
    return CalibratedLastValuePruner(plan.trials, caution)


def _law_pruner(options: Mapping[str, Any], plan: Plan) -> BasePruner:
    return LawPruner(plan.last_step, **options)


def _recorded(fields: Mapping[str, Any], plan: Plan) -> BasePruner:
    return RecordedPruner(plan.trials, PruneRule(**fields))


def _clairvoyant(first: float, plan: Plan) -> BasePruner:
    return ClairvoyantPruner(plan.trials, first)
