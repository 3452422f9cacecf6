"""GSM8K's format, messages with a system prompt, columns, the file that comes with grpo-ops; old specs as they were."""

import hashlib
import json
import subprocess
import sys
from importlib.resources import files

import pytest

from grpo_ops.errors import TaskError
from grpo_ops.evaluation import evaluation_digest
from grpo_ops.specs import EvaluationSpec, RewardSpec, TaskSpec
from grpo_ops.tasks import load_rewards, load_task
from grpo_ops.tasks.gsm import gsm_problems

EVALUATION = EvaluationSpec(prompts=2)
GSM = {"prompt_column": "question", "answer_format": "gsm8k"}


def task_of(tmp_path, records, **settings):
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return load_task(TaskSpec(source="jsonl", path=str(path), **settings), EVALUATION)


def problem(n, answer="#### 72"):
    return {"question": f"How many in case {n}?", "answer": f"Half of it is {n}.\n{answer}"}


@pytest.mark.parametrize(
    ("given", "final"),
    [("#### 72", "72"), ("####1,234,567\n", "1234567"), ("#### -3.5", "-3.5"), ("a#### 1\n#### 2", "2")],
)
def test_what_follows_the_mark_is_the_answer_and_the_rest_the_solution(tmp_path, given, final):
    task = task_of(tmp_path, [problem(n, given) for n in range(4)], **GSM)
    row = task.train[0]
    assert row.answer == final
    assert row.columns["solution"].startswith("Half of it is")
    assert row.prompt.startswith("How many in case")


@pytest.mark.parametrize("answer", ["72", "#### ", ""])
def test_a_row_without_a_final_answer_is_named(tmp_path, answer):
    records = [problem(0), problem(1), problem(2, answer), problem(3)]
    with pytest.raises(TaskError, match=r"data\.jsonl, row 3: answer_format = 'gsm8k' but nothing follows ####"):
        task_of(tmp_path, records, **GSM)


USER = {"role": "user", "content": "Hi"}
OWN = {"role": "system", "content": "Mine."}


@pytest.mark.parametrize(
    ("prompt", "system", "roles"),
    [
        ("Hi", "Be brief.", ["system:Be brief.", "user:Hi"]),
        ([USER], "Be brief.", ["system:Be brief.", "user:Hi"]),
        ([OWN, USER], "Be brief.", ["system:Mine.", "user:Hi"]),
        ([OWN, USER], None, ["system:Mine.", "user:Hi"]),
        ([USER], None, ["user:Hi"]),
    ],
)
def test_there_is_one_system_message_and_the_prompts_own_comes_first(tmp_path, prompt, system, roles):
    def numbered(n):
        if isinstance(prompt, str):
            return prompt + " " * n
        return [*prompt[:-1], {**prompt[-1], "content": prompt[-1]["content"] + " " * n}]

    task = task_of(tmp_path, [{"prompt": numbered(n), "answer": n} for n in range(5)], system_prompt=system)
    for row in (*task.train, *task.eval):
        assert [f"{message['role']}:{message['content'].strip()}" for message in row.prompt] == roles


def test_text_beside_messages_becomes_a_message(tmp_path):
    records = [
        {"prompt": "text", "answer": 1},
        *({"prompt": [{**USER, "content": str(n)}], "answer": 1} for n in range(4)),
    ]
    task = task_of(tmp_path, records)
    assert {type(row.prompt) for row in (*task.train, *task.eval)} == {list}


@pytest.mark.parametrize("prompt", [7, [], ["a"], [{"role": "user"}]])
def test_a_prompt_that_is_neither_text_nor_messages_is_named(tmp_path, prompt):
    with pytest.raises(TaskError, match=r"row 1: the prompt .* is neither text nor messages with role and content"):
        task_of(tmp_path, [{"prompt": prompt, "answer": 1}])


def test_the_shipped_file_is_what_reasoning_gym_makes(tmp_path):
    place = files("grpo_ops.tasks") / "data" / "gsm_symbolic.jsonl"
    shipped = [json.loads(line) for line in place.read_text(encoding="utf-8").splitlines()]
    assert len(shipped) == len({record["question"] for record in shipped}) == 200
    assert shipped == gsm_problems()
    done = subprocess.run([sys.executable, "-m", "grpo_ops.tasks.gsm", "3", "9"], capture_output=True, text=True)
    assert [json.loads(line) for line in done.stdout.splitlines()] == gsm_problems(3, 9)
    assert done.stderr == ""


def test_the_shipped_file_is_a_task_whose_answers_math_verify_accepts():
    task = load_task(TaskSpec(source="jsonl", path="starter:gsm", **GSM), EvaluationSpec(prompts=40))
    assert (len(task.train), len(task.eval)) == (160, 40)
    (reward,) = load_rewards([RewardSpec(name="math_verify")], task, allow_import_paths=False)
    right = [row.answer for row in task.eval]
    assert reward(right, right, answer=right) == [1.0] * 40


def test_a_shipped_file_that_is_not_there_is_said():
    with pytest.raises(TaskError, match="no file 'starter:math' comes with grpo-ops; known: starter:gsm"):
        load_task(TaskSpec(source="jsonl", path="starter:math"), EVALUATION)


@pytest.mark.parametrize(
    ("settings", "train", "held_out", "digest"),
    [
        (
            {"source": "starter", "name": "arith", "train_size": 64},
            "1bd3ba130b4aa419",
            "0a4754970c414807",
            "00b51c1b3a651dd4",
        ),
        ({"source": "jsonl", "train_size": 30, "seed": 5}, "abe926807f409092", "f289a05bb4f4b732", "082b8780a6593bcf"),
    ],
)
def test_specs_of_before_give_the_same_prompts_and_the_same_evaluation(tmp_path, settings, train, held_out, digest):
    def named(rows):
        return hashlib.sha256(" ".join(row.id for row in rows).encode()).hexdigest()[:16]

    if settings["source"] == "jsonl":
        path = tmp_path / "rows.jsonl"
        path.write_text(
            "".join(json.dumps({"prompt": f"What is {n}?", "answer": n, "level": n % 3}) + "\n" for n in range(60))
        )
        settings = {**settings, "path": str(path)}
    evaluation = EvaluationSpec(prompts=16)
    task = load_task(TaskSpec(**settings), evaluation)
    rewards = load_rewards([RewardSpec(name="exact_match")], task, allow_import_paths=False)
    assert (named(task.train), named(task.eval)) == (train, held_out)
    assert evaluation_digest(task.eval, rewards, evaluation, 8).startswith(digest)
