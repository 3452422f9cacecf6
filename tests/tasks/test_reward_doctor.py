"""The reward doctor: every shipped reward, and rewards that are wrong in one way each."""

import itertools

import pytest

from grpo_ops.specs import EvaluationSpec, RewardSpec, TaskSpec
from grpo_ops.tasks import Reward, Row, Task, load_rewards, load_task
from grpo_ops.tasks.doctor import SUM, examine
from grpo_ops.tasks.probes import LONG, probes

ROWS = [Row.of(f"What is {number} + {number}?", str(2 * number), {}) for number in (3, 6, 50)]
CHAT = [Row.of([{"role": "user", "content": row.prompt}], row.answer, {}) for row in ROWS]
NO_TASK = Task((), ())
COUNTER = itertools.count()


def scored(score):
    """A reward that gives each completion `score(text, answer)`."""

    def function(completions, answer, **_):
        return [score(text, right) for text, right in zip(completions, answer, strict=True)]

    return Reward(function, "mine", 1.0, {})


def refuses_null(text, right):
    if "\0" in text:
        raise ValueError("embedded null")
    return float(text == right)


@pytest.mark.parametrize(
    ("score", "faults", "notes"),
    [
        (lambda text, right: float(text.strip() == right), [], []),
        (lambda text, right: float(text.strip() in ("", right)), ["accepts an empty answer: it gives it 1"], []),
        (lambda text, right: float(not text.strip()), ["accepts an empty answer: it gives it 1"], ["a wrong answer"]),
        (lambda text, right: 0.5, ["never differs inside a group"], []),
        (lambda text, right: None, ["gives None to everything"], []),
        (refuses_null, ["fails on 'null characters', which would end a run: reward 'mine' raised ValueError"], []),
        (lambda text, right: float(bool(text.strip())), [], ["gives a wrong answer as much as the right one (1)"]),
        (lambda text, right: float(right in text), [], ["gives a list of all answers as much as the right one (1)"]),
        (
            lambda text, right: float(text == right) + 1e-6 * next(COUNTER),
            [],
            ["other values when it was asked again"],
        ),
    ],
    ids=["sound", "empty too", "empty only", "constant", "none", "raises", "length", "contains", "unsteady"],
)
def test_each_way_to_be_wrong_is_found(score, faults, notes):
    checkup = examine([scored(score)], ROWS)
    found = {kind: [str(f) for f in checkup.findings if f.is_fault is kind] for kind in (True, False)}
    assert [len(found[True]), len(found[False])] == [len(faults), len(notes)], found
    assert all(part in said for part, said in zip(faults + notes, found[True] + found[False], strict=True))
    assert checkup.is_healthy is not faults


def test_is_healthy_follows_the_faults():
    assert examine([scored(lambda text, right: float(text == right))], ROWS).is_healthy
    assert not examine([scored(lambda text, right: 0.5)], ROWS).is_healthy


@pytest.mark.parametrize(
    ("name", "rows", "config"),
    [
        ("exact_match", ROWS, {}),
        ("exact_match", CHAT, {"tag": "answer"}),
        ("math_verify", ROWS, {}),
    ],
)
def test_the_rewards_that_come_with_grpo_ops_are_healthy(name, rows, config):
    rewards = load_rewards([RewardSpec(name=name, config=config)], NO_TASK, allow_import_paths=False)
    try:
        checkup = examine(rewards, rows)
    finally:
        rewards[0].stop()
    assert checkup.is_healthy, checkup.findings
    assert checkup.total.best("right") == 1.0
    assert checkup.total.best("empty") == 0.0


def test_reasoning_gyms_scorers_are_healthy():
    task = load_task(TaskSpec(source="reasoning_gym", name="chain_sum", train_size=4), EvaluationSpec(prompts=4))
    rewards = load_rewards([RewardSpec(name="reasoning_gym")], task, allow_import_paths=False)
    assert examine(rewards, task.train).is_healthy


def test_a_part_may_watch_over_length_where_the_sum_is_sound():
    """The length reward accepts an empty answer: a note on the part, and no fault of the sum."""
    specs = [RewardSpec(name="exact_match"), RewardSpec(name="length", weight=0.1, config={"target": 4})]
    checkup = examine(load_rewards(specs, NO_TASK, allow_import_paths=False), ROWS)
    assert checkup.is_healthy
    assert "length accepts an empty answer: it gives it 1, and the right answer at most 1" in map(str, checkup.findings)
    assert checkup.total.best("right") == pytest.approx(1.1)
    turned = [spec.model_copy(update={"weight": weight}) for spec, weight in zip(specs, (-0.1, 1.0), strict=True)]
    worse = examine(load_rewards(turned, NO_TASK, allow_import_paths=False), ROWS)
    assert [finding.reward for finding in worse.findings if finding.is_fault] == [SUM]


def test_probes_have_one_text_a_row_and_all_kinds():
    found = probes(ROWS)
    assert {probe.kind for probe in found} == {"right", "wrong", "empty", "listing", "other"}
    assert all(len(probe.texts) == len(ROWS) for probe in found)
    assert max(len(text) for probe in found for text in probe.texts) == LONG
    assert len({probe.name for probe in found}) == len(found)


def test_where_all_answers_are_one_there_is_no_wrong_one():
    rows = [Row.of(f"question {number}", "7", {}) for number in range(3)]
    assert not [probe for probe in probes(rows) if probe.kind == "wrong"]
