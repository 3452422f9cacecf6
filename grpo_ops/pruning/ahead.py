"""Where a trial will end, seen from its study: the one forecast that decisions, leaderboards and MLflow show."""

from collections.abc import Sequence
from dataclasses import replace

from grpo_ops.curve import RewardCurve
from grpo_ops.law import Forecast, Pool, forecast
from grpo_ops.pruning.rule import PruneRule
from grpo_ops.pruning.types import TrialView

_MOST_SIBLINGS = 50  # the cost grows with their number cubed, and the fifty-first says next to nothing


def forecast_trial(trial: TrialView, others: Sequence[TrialView], rule: PruneRule) -> Forecast:
    """The forecast of the judged curve of `trial`, with its hyperparameters and those of up to 50 finished siblings.

    Of more, those that come last in `others`.
    """
    finished = [other for other in others if other.state == "finished"][-_MOST_SIBLINGS:]
    pool = Pool.of_series([other.series(rule) for other in finished], [other.params for other in finished])
    found = forecast(_upright(trial, rule), siblings=pool, params=trial.params)
    return found if rule.sign > 0 else found.mirrored()


def _upright(trial: TrialView, rule: PruneRule) -> RewardCurve:
    """The judged curve with more always better."""
    curve = trial.judged(rule)
    return curve if rule.sign > 0 else replace(curve, rewards=tuple(-reward for reward in curve.rewards))
