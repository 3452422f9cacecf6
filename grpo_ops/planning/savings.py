"""What a sweep costs in full, and what its pruner is expected to save: what it saved on recorded sweeps."""

from dataclasses import dataclass

from grpo_ops.specs import SweepSpec

#: Share of the steps that LawPruner saved, mean over recorded sweeps, as `python -m benchmarks.pruners` measures it.
SAVED_BY_REWARD_ALONE = 0.43
SAVED_BY_REWARD_AT_FOUR = 0.35
SAVED_BY_PAIRED_EVALUATION = 0.60


@dataclass(frozen=True, slots=True)
class Savings:
    """A sweep of full runs, and the share of their steps that its pruner is expected to save (None: not measured)."""

    trials: int
    parallel: int
    pruner: str
    share: float | None
    basis: str


def savings_of(spec: SweepSpec) -> Savings:
    """The savings to expect of `spec`; none is claimed for a pruner that LawPruner's numbers do not speak for."""
    share, basis = _measured(spec)
    return Savings(spec.trials, spec.parallel, spec.pruner.name, share, basis)


def _measured(spec: SweepSpec) -> tuple[float | None, str]:
    if spec.pruner.name == "none":
        return 0.0, "no pruner"
    if spec.pruner.name != "law":
        return None, f"not measured for the pruner {spec.pruner.name!r} with its settings here"
    if spec.objective == "eval_reward":
        return SAVED_BY_PAIRED_EVALUATION, "recorded sweeps judged by paired evaluations"
    if spec.parallel == 1:
        return SAVED_BY_REWARD_ALONE, "recorded sweeps judged by training reward, one trial at a time"
    return SAVED_BY_REWARD_AT_FOUR, "recorded sweeps judged by training reward, four trials at a time"
