"""Training and evaluation prompts: disjoint by text, unique, seeded; every shortage is said with its numbers."""

import json

import pyarrow
import pyarrow.parquet
import pytest

from grpo_ops.errors import TaskError
from grpo_ops.specs import EvaluationSpec, TaskSpec
from grpo_ops.tasks import STARTER_TASKS, load_task, prompt_text

EVALUATION = EvaluationSpec(prompts=20)


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def numbered(first, last):
    return [{"prompt": f"What is {n}?", "answer": n, "level": n % 3} for n in range(first, last)]


def texts(rows):
    return [prompt_text(row.prompt) for row in rows]


@pytest.mark.parametrize("name", sorted(STARTER_TASKS))
def test_starter_tasks_have_enough_different_prompts(name):
    task = load_task(TaskSpec(source="starter", name=name, train_size=1500), EvaluationSpec(prompts=256))
    assert len(set(texts(task.train) + texts(task.eval))) == 1756
    assert task.score(task.eval[0].answer, {"answer": task.eval[0].answer, **task.eval[0].fields()}) == 1.0


def test_the_same_seed_gives_the_same_sets_and_another_seed_others():
    def ids(seed):
        spec = TaskSpec(source="reasoning_gym", name="chain_sum", train_size=50, seed=seed)
        return [row.id for row in load_task(spec, EVALUATION).train]

    assert ids(1) == ids(1) != ids(2)


def test_held_out_prompts_do_not_depend_on_the_training_size():
    def held_out(size):
        return texts(load_task(TaskSpec(source="starter", name="arith", train_size=size), EVALUATION).eval)

    assert held_out(50) == held_out(500)


@pytest.mark.parametrize("source", ["jsonl", "parquet"])
def test_a_file_is_divided_and_keeps_its_columns(tmp_path, source):
    path = tmp_path / f"data.{source}"
    rows = numbered(0, 60) + numbered(0, 10)  # ten prompts come twice
    write_jsonl(path, rows) if source == "jsonl" else pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    task = load_task(TaskSpec(source=source, path=str(path), train_size=1000), EVALUATION)
    assert (len(task.train), len(task.eval)) == (40, 20)
    assert not set(texts(task.train)) & set(texts(task.eval))
    assert set(task.train[0].fields()) == {"prompt", "answer", "id", "level"}


def test_a_system_prompt_makes_messages(tmp_path):
    path = write_jsonl(tmp_path / "data.jsonl", numbered(0, 30))
    task = load_task(TaskSpec(source="jsonl", path=path, system_prompt="Be brief."), EVALUATION)
    assert [message["role"] for message in task.train[0].prompt] == ["system", "user"]


def test_an_evaluation_file_that_overlaps_is_refused_with_a_prompt_and_the_count(tmp_path):
    train = write_jsonl(tmp_path / "train.jsonl", numbered(0, 50))
    held_out = write_jsonl(tmp_path / "eval.jsonl", numbered(47, 67))
    with pytest.raises(TaskError, match=r"3 of the 20 evaluation prompts .*'What is 4[789]\?'"):
        load_task(TaskSpec(source="jsonl", path=train, eval_path=held_out), EVALUATION)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"source": "starter", "name": "chess"}, "no starter task 'chess'; known: arith"),
        ({"source": "reasoning_gym", "name": "chess"}, "no dataset 'chess'; it has .*chain_sum"),
        ({"source": "reasoning_gym", "name": "chain_sum", "config": {"min_therms": 2}}, "min_therms"),
        ({"source": "starter", "name": "arith", "train_size": 9000}, r"gave 39\d\d different prompts, .* need 9020"),
        ({"source": "jsonl", "path": "nowhere.jsonl"}, "there is no file 'nowhere.jsonl'"),
    ],
)
def test_what_cannot_be_had_is_said(spec, message):
    with pytest.raises(TaskError, match=message):
        load_task(TaskSpec(**spec), EVALUATION)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"prompt": "a"}\n', r"row 1: no 'answer'; it has prompt"),
        ('{"prompt": "a", "answer": "b"}\nnot json\n', "cannot be read as jsonl"),
        ('{"prompt": "a", "answer": "b"}\n', "there are 1 different prompts to hold out and 0 left"),
    ],
)
def test_a_bad_file_is_an_error_that_says_where(tmp_path, lines, message):
    path = tmp_path / "data.jsonl"
    path.write_text(lines)
    with pytest.raises(TaskError, match=message):
        load_task(TaskSpec(source="jsonl", path=str(path)), EVALUATION)
