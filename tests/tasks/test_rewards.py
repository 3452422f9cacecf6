"""The rewards that come with grpo-ops, by table; the guard; finding rewards by name."""

import math
import pickle

import pytest

from grpo_ops.errors import RewardError, TaskError
from grpo_ops.specs import EvaluationSpec, RewardSpec, TaskSpec
from grpo_ops.tasks import Reward, Task, known_rewards, load_rewards, load_task
from grpo_ops.tasks.guard import Tally

NO_TASK = Task((), ())


def named(name, task=NO_TASK, **config):
    return load_rewards([RewardSpec(name=name, config=config, timeout_seconds=0)], task, allow_import_paths=False)[0]


@pytest.mark.parametrize(
    ("name", "config", "completion", "answer", "expected"),
    [
        ("exact_match", {}, " 12\n", "12", 1.0),
        ("exact_match", {}, "12.0", "12", 0.0),
        ("exact_match", {"ignore_case": True}, "Yes", "yes", 1.0),
        ("exact_match", {"tag": "answer"}, "so <answer>7</answer> no, <answer> 8 </answer>", "8", 1.0),
        ("exact_match", {"tag": "answer"}, "8", "8", 0.0),
        ("exact_match", {}, [{"role": "assistant", "content": "12"}], "12", 1.0),
        ("math_verify", {}, "The answer is $\\frac{1}{2}$", "0.5", 1.0),
        ("math_verify", {}, "\\boxed{3}", "0.5", 0.0),
        ("math_verify", {}, "3", "no mathematics here", None),
        ("format", {}, "<think>\nhm\n</think>\n<answer>3</answer>", "", 1.0),
        ("format", {}, "<answer>3</answer>", "", 0.0),
        ("format", {"pattern": r"\d+"}, "123", "", 1.0),
        ("length", {"target": 4}, "abcd", "", 1.0),
        ("length", {"target": 4}, "abcdef", "", 0.5),
        ("length", {"target": 4}, "abcdefghijk", "", 0.0),
    ],
)
def test_rewards(name, config, completion, answer, expected):
    ids = [list(range(len(completion)))]
    assert named(name, **config)(["?"], [completion], answer=[answer], completion_ids=ids) == [expected]


def test_reasoning_gym_scores_with_the_dataset_of_the_task():
    task = load_task(TaskSpec(source="reasoning_gym", name="chain_sum", train_size=4), EvaluationSpec(prompts=4))
    row = task.train[0]
    columns = {"answer": [row.answer] * 2, "metadata": [row.columns["metadata"]] * 2}
    reward = named("reasoning_gym", task)
    assert reward([row.prompt] * 2, [f"{row.answer}.0", "none"], **columns) == [1.0, 0.0]


def test_reasoning_gym_needs_a_task_with_a_scorer():
    with pytest.raises(RewardError, match="needs a task whose source is reasoning_gym"):
        named("reasoning_gym")(["?"], ["1"], answer=["1"], metadata=[{}])


def broken(kind):
    def function(prompts, completions, **_):
        if kind == "raises" and any("bad" in text for text in completions):
            raise KeyError("gold")
        values = {"nan": math.nan, "inf": math.inf, "text": "0.5", "raises": 1.0, "short": 1.0}[kind]
        scores = [values if "bad" in text else 1.0 for text in completions]
        return scores[1:] if kind == "short" else scores

    return Reward(function, "mine", 1.0, {})


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("raises", r"reward 'mine' raised KeyError: 'gold'; completion: 'bad" + "x" * 197 + "'"),
        ("nan", "reward 'mine' returned nan; completion: 'badx"),
        ("inf", "reward 'mine' returned inf; completion: 'badx"),
        ("text", "reward 'mine' returned '0.5', which is no number"),
        ("short", "reward 'mine' returned 2 rewards for 3 completions"),
    ],
)
def test_what_is_not_a_reward_fails_with_name_and_completion(kind, message):
    with pytest.raises(RewardError, match=message) as caught:
        broken(kind)(["?"] * 3, ["good", "bad" + "x" * 400, "good"])
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("result", [None, 1.0])
def test_a_result_that_is_no_list_fails(result):
    with pytest.raises(RewardError, match="instead of a list of rewards"):
        Reward(lambda **_: result, "mine", 1.0, {})(["?"], ["a"])


def test_none_is_kept_and_counted():
    logged = []
    reward = Reward(lambda **_: [None, 2, None], "mine", 1.0, {})
    values = reward(["?"] * 3, ["a", "b", "c"], log_metric=lambda name, value: logged.append((name, value)))
    assert values == [None, 2.0, None]
    assert reward.unscored == 2
    assert logged == [("rewards/mine/unscored", 2)]


def test_an_async_reward_is_awaited():
    async def function(completions, **_):
        return [float(len(text)) for text in completions]

    assert Reward(function, "mine", 1.0, {})(["?"] * 2, ["a", "bb"]) == [1.0, 2.0]


def test_all_registered_rewards_load_under_their_log_names():
    specs = [RewardSpec(name=name, log_name=f"my_{name}", weight=0.5) for name in known_rewards()]
    rewards = load_rewards(specs, NO_TASK, allow_import_paths=False)
    assert {reward.__name__ for reward in rewards} >= {"my_exact_match", "my_format", "my_length", "my_math_verify"}
    assert {reward.weight for reward in rewards} == {0.5}


@pytest.mark.parametrize(
    ("name", "allowed", "message"),
    [
        ("exact", True, "no reward 'exact'; known: exact_match, format"),
        ("os:getpid", False, "only a local spec file"),
        ("nowhere:f", True, "cannot be imported: ModuleNotFoundError"),
        ("os:sep", True, "is a str, not a function"),
    ],
)
def test_rewards_that_cannot_be_had(name, allowed, message):
    with pytest.raises(TaskError, match=message):
        load_rewards([RewardSpec(name=name)], NO_TASK, allow_import_paths=allowed)


def test_an_import_path_finds_a_module_in_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "house_rewards.py").write_text(
        "def brevity(prompts, completions, **_):\n    return [1] * len(prompts)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (reward,) = load_rewards([RewardSpec(name="house_rewards:brevity")], NO_TASK, allow_import_paths=True)
    assert reward.__name__ == "brevity"
    assert reward(["?"], ["a"]) == [1.0]


def test_two_rewards_of_one_log_name_are_refused():
    """Row A11: also where no RunSpec has looked at them."""
    specs = [RewardSpec(name="exact_match"), RewardSpec(name="tests.bad_rewards:exact_match")]
    with pytest.raises(TaskError, match="several rewards would be logged as 'exact_match'"):
        load_rewards(specs, NO_TASK, allow_import_paths=True)


def test_row_c4_completions_that_no_reward_scores_are_counted_once():
    """Row C4: two rewards, both None on one prompt; what one of them scores is not lost."""
    logged = []
    tally = Tally(2)
    first = Reward(lambda **_: [None, None, 1.0], "first", 1.0, {}, tally=tally)
    second = Reward(lambda **_: [None, 1.0, 1.0], "second", 1.0, {}, tally=tally)
    for _ in range(2):
        completions = ["a", "b", "c"]
        for reward in (first, second):
            reward(["?"] * 3, completions, log_metric=lambda name, value: logged.append((name, value)))
    once = [("rewards/first/unscored", 2), ("rewards/second/unscored", 1), ("rewards/unscorable", 1)]
    assert logged == [*once, *once]


def test_a_reward_without_a_name_of_its_own_is_from_where_its_spec_says():
    """Row A11: no memory address gets into a digest."""
    (reward,) = load_rewards(
        [RewardSpec(name="tests.tasks.worker_rewards:partial", timeout_seconds=0)], NO_TASK, allow_import_paths=True
    )
    assert (reward.__name__, reward.source) == ("partial", "tests.tasks.worker_rewards:partial")
    assert reward(["?"], ["ab"]) == [2.0]
