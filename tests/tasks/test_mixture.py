"""Mixtures keep their shares and their halves apart; orders are kept; a curriculum goes from low to high."""

import json
import pickle
from collections import Counter

import pytest

from grpo_ops.errors import TaskError
from grpo_ops.specs import EvaluationSpec, RewardSpec, TaskSpec
from grpo_ops.tasks import load_rewards, load_task, prompt_text
from grpo_ops.tasks.mixture import shares

SUMS = {"source": "reasoning_gym", "name": "chain_sum"}


def write(tmp_path, name, count, chat=False):
    path = tmp_path / f"{name}.jsonl"
    prompts = [f"{name} {n}" for n in range(count)]
    given = [[{"role": "user", "content": text}] if chat else text for text in prompts]
    records = [{"prompt": prompt, "answer": n, "level": -n} for n, prompt in enumerate(given)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return {"source": "jsonl", "path": str(path)}


def mixed(*parts, prompts=20, **settings):
    return load_task(TaskSpec(source="mixture", parts=parts, **settings), EvaluationSpec(prompts=prompts))


def counts(rows):
    return dict(Counter(row.columns["part"] for row in rows))


def texts(rows):
    return [prompt_text(row.prompt) for row in rows]


@pytest.mark.parametrize(
    ("total", "weights", "expected"),
    [
        (10, (2, 1, 1), [5, 3, 2]),
        (7, (1, 1), [4, 3]),
        (3, (1, 1, 1), [1, 1, 1]),
        (100, (0.7, 0.3), [70, 30]),
        (0, (1, 2), [0, 0]),
    ],
)
def test_shares_are_whole_and_sum_to_the_total(total, weights, expected):
    assert shares(total, weights) == expected


def test_training_and_evaluation_have_the_shares_of_the_weights(tmp_path):
    task = mixed({**SUMS, "weight": 3}, {**write(tmp_path, "own", 200), "label": "mine"}, train_size=100)
    assert counts(task.train) == {"chain_sum": 75, "mine": 25}
    assert counts(task.eval) == {"chain_sum": 15, "mine": 5}
    assert {frozenset(row.fields()) for row in (*task.train, *task.eval)} == {
        frozenset({"prompt", "answer", "id", "level", "metadata", "part"})
    }
    assert counts(task.eval[:10]).keys() == {"chain_sum", "mine"}  # an evaluation of the first few sees both


def test_the_seed_decides_and_held_out_prompts_do_not_depend_on_the_training_size(tmp_path):
    parts = (SUMS, write(tmp_path, "own", 100))
    small, again, larger = (mixed(*parts, train_size=size, seed=3) for size in (20, 20, 60))
    assert texts(small.train) == texts(again.train)
    assert texts(small.eval) == texts(larger.eval)
    assert texts(small.eval) != texts(mixed(*parts, train_size=20, seed=4).eval)


def test_a_small_part_makes_the_mixture_smaller_and_keeps_the_shares(tmp_path):
    task = mixed({**SUMS, "weight": 2}, write(tmp_path, "few", 14), train_size=1000, prompts=12)
    assert counts(task.train) == {"chain_sum": 21, "few": 10}  # the file has ten left, of a share of 333


def test_no_prompt_is_in_both_halves_though_parts_share_their_data(tmp_path):
    data = write(tmp_path, "same", 60)
    task = mixed({**data, "label": "a"}, {**data, "label": "b", "answer_column": "level"}, prompts=10)
    assert len(set(texts(task.train) + texts(task.eval))) == len(task.train) + len(task.eval)


def test_each_row_is_scored_by_its_own_part(tmp_path):
    words = {"source": "reasoning_gym", "name": "spell_backward"}
    task = mixed(SUMS, words, write(tmp_path, "own", 60), train_size=30, prompts=15)
    (reward,) = load_rewards([RewardSpec(name="reasoning_gym")], task, allow_import_paths=False)
    rows = task.eval
    columns = {name: [row.fields()[name] for row in rows] for name in ("answer", "metadata")}
    given = reward([row.prompt for row in rows], [row.answer for row in rows], **columns)
    assert pickle.loads(pickle.dumps(task.score))(rows[0].answer, rows[0].fields()) == given[0]  # for a worker process
    assert {(row.columns["part"], score) for row, score in zip(rows, given, strict=True)} == {
        ("chain_sum", 1.0),
        ("spell_backward", 1.0),
        ("own", None),
    }


def test_a_mixture_of_text_and_messages_is_all_messages_with_its_system_prompt(tmp_path):
    own = {**write(tmp_path, "own", 40), "system_prompt": "Mine."}
    task = mixed(SUMS, own, write(tmp_path, "chat", 40, chat=True), train_size=30, prompts=6, system_prompt="All.")
    said = {(row.columns["part"], row.prompt[0]["content"]) for row in (*task.train, *task.eval)}
    assert said == {("chain_sum", "All."), ("own", "Mine."), ("chat", "All.")}
    plain = mixed(SUMS, write(tmp_path, "chat", 40, chat=True), train_size=30, prompts=6)
    assert {tuple(message["role"] for message in row.prompt) for row in plain.train} == {("user",)}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prompts": 2}, r"parts.1 \(own\): its weight 0.01 gives it none of evaluation.prompts = 2; raise either"),
        ({"path": "nowhere.jsonl"}, r"parts.1 \(nowhere\): there is no file 'nowhere.jsonl'"),
    ],
)
def test_what_a_part_lacks_is_said_with_its_name(tmp_path, settings, message):
    part = {**write(tmp_path, "own", 40), "weight": 0.01}
    prompts = settings.pop("prompts", 200)
    with pytest.raises(TaskError, match=message):
        mixed(SUMS, {**part, **settings}, prompts=prompts)


def test_as_given_keeps_the_files_order_and_the_parts_one_after_the_other(tmp_path):
    first, second = write(tmp_path, "b", 30), write(tmp_path, "a", 30)
    task = mixed(first, second, train_size=40, prompts=10, order="as_given")
    names = [text.split() for text in texts(task.train)]
    assert [name for name, _ in names] == ["b"] * 20 + ["a"] * 20
    assert [int(n) for name, n in names if name == "b"] == sorted(int(n) for name, n in names if name == "b")


@pytest.mark.parametrize("order", ["as_given", "shuffled"])
def test_an_order_changes_no_held_out_prompt(tmp_path, order):
    data = write(tmp_path, "own", 50)
    task = load_task(TaskSpec(**data, order=order), EvaluationSpec(prompts=10))
    assert texts(task.eval) == texts(load_task(TaskSpec(**data), EvaluationSpec(prompts=10)).eval)
    numbers = [int(text.split()[1]) for text in texts(task.train)]
    assert (numbers == sorted(numbers)) is (order == "as_given")


def test_a_curriculum_goes_up_by_its_column(tmp_path):
    task = load_task(TaskSpec(**write(tmp_path, "own", 50), curriculum_column="level"), EvaluationSpec(prompts=10))
    levels = [row.columns["level"] for row in task.train]
    assert levels == sorted(levels)
    gym = TaskSpec(**SUMS, train_size=40, curriculum_column="metadata.num_digits", config={"max_digits": 4})
    digits = [row.columns["metadata"]["num_digits"] for row in load_task(gym, EvaluationSpec(prompts=4)).train]
    assert digits == sorted(digits)


@pytest.mark.parametrize("column", ["levle", "metadata", "level.x"])
def test_a_curriculum_without_a_number_is_said(tmp_path, column):
    spec = TaskSpec(**write(tmp_path, "own", 50), curriculum_column=column)
    with pytest.raises(TaskError, match=f"curriculum_column = '{column}' needs a number in every training row.*level"):
        load_task(spec, EvaluationSpec(prompts=10))
