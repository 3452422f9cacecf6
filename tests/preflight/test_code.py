"""What a caller of the API may not name, and what a person is warned of."""

import re
from pathlib import Path

import pytest

from grpo_ops.preflight import code_named_by, warnings
from grpo_ops.preflight.code import EVALUATED
from grpo_ops.specs import RunSpec, SweepSpec, load_spec

DEPLOYMENTS = Path(__file__).parents[2] / "deployments"
RUN, SWEEP = DEPLOYMENTS / "runs/demo.toml", DEPLOYMENTS / "sweeps/demo.toml"
#: A second reward for evaluations: only so may a sweep draw the first one.
REWARDS = 'run.rewards=[{name="length", eval_weight=0, log_name="drawn"}, {name="exact_match"}]'
GYM = ("run.task.source=reasoning_gym", "run.task.name=spiral_matrix")


@pytest.mark.parametrize(
    ("settings", "places"),
    [
        ([], []),
        (["model.trust_remote_code=true"], ["model.trust_remote_code"]),
        (["rewards=[{name='os:system'},{name='length'}]"], ["rewards.0.name"]),
    ],
)
def test_code_in_a_run(settings, places):
    faults = code_named_by(load_spec(RunSpec, RUN, tuple(settings)))
    assert [fault.partition(": ")[0] for fault in faults] == places


@pytest.mark.parametrize(
    ("settings", "places"),
    [
        ([], []),
        (["run.model.trust_remote_code=true"], ["run.model.trust_remote_code"]),
        (["run.rewards=[{name='a:b'}]"], ["run.rewards.0.name"]),
        ([REWARDS, 'space={"rewards.0.name"={choices=["length","os:system"]}}'], ["space.rewards.0.name"]),
        (['space={"model.trust_remote_code"={choices=[false,true]}}'], ["space.model.trust_remote_code"]),
        (['space={"model.trust_remote_code"={low=0,high=1}}'], ["space.model.trust_remote_code"]),
        (['space={"model.trust_remote_code"={choices=["yes"]}}'], ["space.model.trust_remote_code"]),
        (["space={'model.\"trust_remote_code\"'={choices=[true]}}"], ['space.model."trust_remote_code"']),
        (['space={"model.trust_remote_code"={choices=[false]}}'], []),
        (['space={"model.id"={choices=["starter:arith-s@0.3","starter:arith-xs"]}}'], []),
        (
            [REWARDS, 'space={"rewards.0.name"={choices=["length","a:b"]}}', 'enqueue=[{"rewards.0.name"="a:b"}]'],
            ["space.rewards.0.name", "enqueue.0.rewards.0.name"],
        ),
    ],
)
def test_code_in_a_sweep(settings, places):
    faults = code_named_by(load_spec(SweepSpec, SWEEP, tuple(settings)))
    assert [fault.partition(": ")[0] for fault in faults] == places
    assert all("use `grpo-ops` on a local file" in fault for fault in faults)


def test_the_scorers_that_evaluate_answers_are_those_of_reasoning_gym():
    reasoning_gym = pytest.importorskip("reasoning_gym")
    sources = [path.read_text() for path in Path(reasoning_gym.__file__).parent.rglob("*.py")]
    evaluating = [source for source in sources if "eval(answer)" in source]
    assert {re.search(r'DATASET_NAME = "(\w+)"', source).group(1) for source in evaluating} == EVALUATED


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ([], []),
        (GYM, ["spiral_matrix"]),
        ((*GYM, 'space={"task.name"={choices=["chain_sum","n_queens"]}}'), ["spiral_matrix", "n_queens"]),
    ],
)
def test_warnings(settings, names):
    spec = load_spec(SweepSpec, SWEEP, ("run.model.id=org/model", *settings) if settings else ())
    assert [re.search(r"scorer of '(\w+)'", sentence).group(1) for sentence in warnings(spec)] == names
    assert warnings(spec.run) == warnings(spec)[: len(warnings(spec.run))]
