"""Rewards in specs: log names, what two lists of them have in common, and which of their settings a sweep may draw."""

from pathlib import Path

import pytest

from grpo_ops.errors import SpecError
from grpo_ops.specs import RewardSpec, RunSpec, SweepSpec, load_spec
from grpo_ops.specs.reward import evaluation_reward_digest, reward_digest

DEPLOYMENTS = Path(__file__).parents[2] / "deployments"
TWO = 'run.rewards=[{name="reasoning_gym"}, {name="length", weight=0.5, eval_weight=0}]'


@pytest.mark.parametrize(
    ("name", "log_name", "expected"),
    [
        ("exact_match", None, "exact_match"),
        ("exact_match", "right", "right"),
        ("house.rewards:brevity", None, "brevity"),
        ("house:Box.method", None, "method"),
        ("house:größe", None, "gr__e"),
        ("team/f(x)", None, "team_f_x_"),
    ],
)
def test_log_names_are_stable_and_fit_into_trl_and_mlflow(name, log_name, expected):
    """Row A11."""
    assert RewardSpec(name=name, log_name=log_name).logged_as == expected


@pytest.mark.parametrize(
    ("rewards", "sentence"),
    [
        ("[{name='a:f'}, {name='b:f'}]", "2 rewards would be logged as 'f'; give each its own log_name"),
        ("[{name='f(x'}, {name='f_x'}]", "2 rewards would be logged as 'f_x'"),
        ("[{name='length', weight=0}]", "every weight is 0, so there is nothing to optimise"),
        ("[{name='length', eval_weight=0}]", "every eval_weight is 0, so evaluations measure nothing"),
        ("[{name='length', timeout_seconds=-1}]", "rewards.0.timeout_seconds: "),
    ],
)
def test_faults_of_rewards(rewards, sentence):
    with pytest.raises(SpecError) as caught:
        load_spec(RunSpec, DEPLOYMENTS / "runs/demo.toml", (f"rewards={rewards}",))
    assert sentence in str(caught.value)


A, B = {"name": "length", "config": {"target": 8}}, {"name": "exact_match"}


@pytest.mark.parametrize(
    ("others", "alike", "alike_in_evaluations"),
    [
        ([B, A], True, True),
        ([{**A, "log_name": "short", "timeout_seconds": 5}, B], True, True),
        ([{**A, "weight": 0.5}, B], False, False),
        ([{**A, "weight": 0.5, "eval_weight": 1}, B], False, True),
        ([{**A, "config": {"target": 9}}, B], False, False),
        ([{**A, "eval_weight": 0}, B], True, False),
        ([A], False, False),
    ],
)
def test_digests_are_equal_where_rewards_measure_the_same(others, alike, alike_in_evaluations):
    mine, theirs = ([RewardSpec(**reward) for reward in rewards] for rewards in ([A, B], others))
    assert (reward_digest(mine) == reward_digest(theirs)) is alike
    assert (evaluation_reward_digest(mine) == evaluation_reward_digest(theirs)) is alike_in_evaluations


@pytest.mark.parametrize(
    ("space", "objective", "is_refused"),
    [
        ("'rewards.1.weight'={low=0.1, high=1}", "reward", True),
        ("'rewards.1.weight'={low=0.1, high=1}", "eval_reward", False),
        ("'rewards.1.config.target'={choices=[8, 16]}", "eval_reward", False),
        ("'rewards.1.config.target'={choices=[8, 16]}", "reward", True),
        ("'rewards.0.weight'={low=0.1, high=1}", "eval_reward", True),
        ("'rewards.0.name'={choices=['exact_match', 'math_verify']}", "eval_reward", True),
        ("'rewards.1.name'={choices=['exact_match', 'math_verify']}", "eval_reward", False),
        ("'rewards.0.timeout_seconds'={low=1, high=9}", "reward", False),
        ("'rewards.1.weight'={choices=[0.7]}", "reward", False),
        ("'seed'={choices=[0, 1]}, 'rewards.1.weight'={choices=[0.7], only_if={seed=1}}", "reward", True),
        ("'grpo.learning_rate'={low=1e-5, high=1e-3}", "reward", False),
    ],
)
def test_a_sweep_draws_weights_only_where_its_objective_stays_the_same(space, objective, is_refused):
    settings = (TWO, f"space={{{space}}}", f"objective={objective}")
    if not is_refused:
        assert load_spec(SweepSpec, DEPLOYMENTS / "sweeps/demo.toml", settings)
        return
    with pytest.raises(SpecError, match=r"space\.rewards.*cannot be compared.*eval_weight"):
        load_spec(SweepSpec, DEPLOYMENTS / "sweeps/demo.toml", settings)
