"""The rule by which a run is judged follows from its spec and its sweep's pruner."""

import pytest

from grpo_ops.sweep.watch import rule_for
from tests.sweep.sweep_process import spec_with


@pytest.mark.parametrize(
    ("metric", "pruner", "asked", "plateau"),
    [
        ("eval_reward", "law", None, True),
        ("eval_reward", "law", False, False),
        ("reward", "law", None, False),
        ("reward", "law", True, True),
        ("eval_reward", "none", None, False),
        ("eval_reward", "median", None, False),
        ("eval_reward", "none", True, True),
    ],
)
def test_a_plateau_ends_a_run_where_that_is_asked_for_or_safe(metric, pruner, asked, plateau):
    spec = spec_with(f"pruner.name={pruner}")
    run = spec.run.model_copy(update={"stopping": spec.run.stopping.model_copy(update={"plateau": asked})})
    assert rule_for(run, metric, spec.pruner).plateau is plateau


def test_a_run_is_judged_with_the_caution_of_its_sweep():
    spec = spec_with("pruner.caution=0.9", "run.stopping.min_gain=0.05", "run.stopping.diverged=false")
    rule = rule_for(spec.run, "eval_reward", spec.pruner)
    assert (rule.caution, rule.min_gain, rule.collapse) == (0.9, 0.05, False)
    assert rule_for(spec.run, "reward").caution == type(spec.pruner)().caution
