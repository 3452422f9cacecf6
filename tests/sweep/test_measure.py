"""A close call may be measured once more: what is asked, how the answer counts, and what it costs."""

import random
import sys

import pytest

from grpo_ops.curve import Evaluation, RewardCurve
from grpo_ops.home import Home
from grpo_ops.preflight import check_sweep
from grpo_ops.pruning import PruneReason, TrialView
from grpo_ops.specs import EvaluationSpec
from grpo_ops.supervise import ProcessLauncher
from grpo_ops.sweep import run_sweep
from grpo_ops.sweep.board import Row
from grpo_ops.sweep.measure import answered_step, merged, question_about
from grpo_ops.sweep.watch import Watch, rule_for
from grpo_ops.tracking import open_run
from tests.sweep.helpers import assert_whole, mlflow_runs
from tests.sweep.sweep_process import TESTS, spec_with

ANSWERING = ProcessLauncher(command=(sys.executable, str(TESTS / "sweep/answering_trainer.py")))
PROMPTS = tuple(str(number) for number in range(32))


def evaluation(step, outcomes, ask=None):
    fields = {"step": step, "outcomes": outcomes, "prompt_ids": PROMPTS[: len(outcomes)], "digest": "d", "ask": ask}
    return {"kind": "evaluation", "time": float(step), "attempt": 0, "mean": sum(outcomes) / len(outcomes), **fields}


def test_the_same_prompts_are_asked_for_with_another_seed():
    spec = EvaluationSpec(temperature=1.0, seed=7)
    found = Evaluation(30, (1.0, 0.0), ("p", "q"), "d")
    assert question_about(found, spec) == {"id": "close-call-30", "prompts": ["p", "q"], "seed": 8}
    assert question_about(found, EvaluationSpec(temperature=0.0)) is None


@pytest.mark.parametrize(
    ("entry", "step"),
    [
        (evaluation(31, [1.0], ask="close-call-30"), 30),
        (evaluation(31, [1.0], ask="somebody-elses"), None),
        (evaluation(31, [1.0]), None),
        ({"kind": "step", "step": 31}, None),
    ],
)
def test_answers_are_known_by_their_id(entry, step):
    assert answered_step(entry) == step


def test_outcomes_are_averaged_by_prompt_in_any_order():
    first = Evaluation(10, (1.0, 0.0, None, None), ("a", "b", "c", "d"), "d")
    more = Evaluation(12, (None, 1.0, 1.0, 0.5), ("d", "c", "b", "a"), "other")
    assert merged(first, more) == Evaluation(10, (0.75, 0.5, 1.0, None), ("a", "b", "c", "d"), "d")


def noisy(seed, level):
    draws = random.Random(seed)
    steps = range(0, 201, 10)
    return [
        evaluation(step, [float(draws.random() < 0.2 + (level - 0.2) * min(1, step / 100)) for _ in PROMPTS])
        for step in steps
    ]


def rivals():
    return [view(f"rival-{seed}", noisy(seed, 0.6)) for seed in (1, 2, 3)]


def view(key, entries):
    evaluations = tuple(Evaluation(entry["step"], tuple(entry["outcomes"]), PROMPTS, "d") for entry in entries)
    steps, rewards = tuple(found.step for found in evaluations), tuple(found.mean for found in evaluations)
    return TrialView(key, RewardCurve(steps, rewards, 200), evaluations, "finished")


def watch_until_close(home, seed):
    """A watch that wants to ask about a close call, with the rivals that it is compared with; None without such."""
    spec = spec_with("run.grpo.max_steps=200", "run.evaluation.every=10", "run.evaluation.temperature=1.0").run
    rule = rule_for(spec, "eval_reward")
    row = Row("own", 3, {}, 200)
    watch = Watch(spec, rule, open_run(home, spec, f"own-{seed}"), row, measures=True)
    others = rivals()
    for entry in noisy(100 + seed, 0.55):
        watch.take([entry], lambda: others)
        if watch.question is not None:
            return watch, others
    return None


def test_an_answer_is_merged_and_the_decision_made_again_once(tmp_path):
    home = Home(tmp_path / "home")
    found = next(filter(None, (watch_until_close(home, seed) for seed in range(20))))
    watch, others = found
    before, step = watch.decision, max(watch.evaluations)
    assert before.reason is PruneReason.CLOSE_CALL
    question = watch.take_question()
    assert question["id"] == f"close-call-{step}"
    assert watch.take_question() is None
    mean = watch.evaluations[step].mean
    watch.take([evaluation(step + 1, [0.0] * 32, ask=question["id"])], lambda: others)
    assert watch.evaluations[step].mean == pytest.approx(mean / 2)
    assert watch.decision is not before
    assert watch.decision.numbers != before.numbers
    assert watch.row.measured == 32
    assert watch.question is None
    after = watch.decision
    watch.take([evaluation(step + 2, [1.0] * 32, ask=question["id"])], lambda: others)
    assert (watch.decision, watch.row.measured) == (after, 32)


def test_a_sweep_asks_and_counts_what_the_answers_cost(tmp_path, monkeypatch):
    home = Home(tmp_path / "home")
    monkeypatch.setenv("TRAINER_MOOD", "slow:0.1")
    settings = ("trials=3", "parallel=1", "run.grpo.max_steps=30", "run.evaluation.every=3", "measure=true")
    points = ", ".join(f'{{"grpo.learning_rate"={rate}}}' for rate in (9e-4, 8e-4, 7e-4))
    spec = spec_with(*settings, "run.evaluation.temperature=1.0", f"enqueue=[{points}]")
    board = run_sweep(spec, home, launcher=ANSWERING)
    assert_whole(home, spec)
    measured = {row.key: row.measured for row in board.rows}
    assert sum(measured.values()) > 0
    runs = mlflow_runs(home)
    assert {key: runs[key].data.metrics.get("measured_completions", 0) for key in measured} == measured
    assert runs[board.study].data.metrics["cost/measured_completions"] == sum(measured.values())
    for row in board.rows:
        assert runs[row.key].data.metrics["eval_reward_best"] == pytest.approx(row.evaluation)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (("run.evaluation.temperature=0.0",), "measure: true needs run.evaluation.temperature above 0"),
        (("objective=reward", "run.evaluation.temperature=1.0"), "measure: true settles close calls of the pruner law"),
        (("pruner.name=none", "run.evaluation.temperature=1.0"), "measure: true settles close calls of the pruner law"),
        (("run.evaluation.temperature=1.0",), None),
    ],
)
def test_what_cannot_be_measured_is_said_at_pre_flight(settings, sentence):
    faults = [fault for fault in check_sweep(spec_with("measure=true", *settings)) if fault.startswith("measure")]
    assert [fault.startswith(sentence) for fault in faults] == ([True] if sentence else [])
