"""`grpo-ops rewards check`: its table, its findings and its exit codes."""

import json
from pathlib import Path

import pytest

DEPLOYMENTS = Path(__file__).parents[2] / "deployments"
RUN = DEPLOYMENTS / "runs/demo.toml"


@pytest.mark.parametrize("file", sorted((DEPLOYMENTS / "runs").glob("*.toml")), ids=lambda path: path.stem)
def test_the_rewards_of_every_shipped_run_are_healthy(call, file):
    done = call("rewards", "check", file, "--rows", "2", "--set", "task.train_size=8", "--set", "evaluation.prompts=4")
    assert done.exit_code == 0, done.output
    assert "fault" not in done.stdout


def test_a_table_of_completions_and_rewards_and_their_sum(call):
    rewards = "rewards=[{name='reasoning_gym'}, {name='length', weight=0.1}]"
    done = call("rewards", "check", RUN, "--set", rewards)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["completion", "reasoning_gym", "length", "sum", "by", "weight"]
    row = next(line for line in lines if line.startswith("right answer alone"))
    assert row.split()[-3:] == ["1", "1", "1.1"]
    assert "note: length accepts an empty answer" in done.stdout


def test_a_fault_is_exit_code_1_and_the_json_says_which(call):
    done = call("rewards", "check", RUN, "--json", "--set", "rewards=[{name='tests.bad_rewards:raises'}]")
    assert done.exit_code == 1
    document = json.loads(done.stdout)
    assert document["healthy"] is False
    (finding,) = document["findings"]
    assert "raised ValueError: no such answer key" in finding["sentence"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([DEPLOYMENTS / "promotions/demo.toml"], "is a PromotionSpec, which has no rewards; name a run or a sweep"),
        ([RUN, "--set", "rewards=[{name='nonsense'}]"], "there is no reward 'nonsense'"),
        ([RUN, "--set", "rewards=[]"], "rewards"),
    ],
)
def test_what_cannot_be_checked_is_one_sentence(call, arguments, sentence):
    done = call("rewards", "check", *arguments)
    assert done.exit_code == 2
    assert sentence in done.stderr
