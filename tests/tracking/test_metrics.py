import math

import pytest

from grpo_ops.tracking.metrics import BATCH, Ledger, entry_metrics, law_line, next_batch, nonfinite_names
from grpo_ops.tracking.names import BEST_CHECKPOINT, NONFINITE


def step(number, *, attempt=0, **metrics):
    return {
        "kind": "step",
        "time": 100.0 + number,
        "attempt": attempt,
        "step": number,
        "metrics": metrics,
        "nonfinite": {},
    }


def evaluation(number, outcomes=(1.0, 0.0), ask=None):
    ids = [str(index) for index in range(len(outcomes))]
    line = {"kind": "evaluation", "time": 5.0, "attempt": 0, "step": number, "digest": "d", "ask": ask}
    return {**line, "mean": 0.5, "prompt_ids": ids, "outcomes": list(outcomes)}


def sent(batch):
    return [(metric.key, metric.step, metric.value) for metric in batch.metrics]


@pytest.mark.parametrize(
    ("entries", "logged", "expected"),
    [
        ([step(1, reward=0.1), step(2, reward=0.2)], {}, [1, 2]),
        ([step(1, reward=0.1), step(2, reward=0.2), step(2, attempt=1, reward=0.9)], {}, [1, 2]),
        ([step(1, reward=0.1), step(2, reward=0.2), step(3, reward=0.3)], {"step": 2}, [3]),
        ([step(1, reward=0.1)], {"step": 5}, []),
    ],
)
def test_a14_a_step_is_sent_once(entries, logged, expected):
    assert [s for _, s, _ in sent(next_batch(entries, Ledger(logged=logged)))] == expected


def test_evaluations_have_their_own_mark_and_start_at_step_0():
    batch = next_batch([step(1, reward=0.1), evaluation(0), evaluation(1)], Ledger())
    names = [(name, at) for name, at, _ in sent(batch)]
    assert names == [("reward", 1), *[(n, s) for s in (0, 1) for n in ("eval_reward", "eval_reward_stderr")]]
    assert batch.inputs == {"d": 2}


def test_an_evaluation_that_somebody_asked_for_is_not_in_the_curve():
    assert sent(next_batch([evaluation(3, ask="42")], Ledger())) == []


def test_law_metrics_go_the_same_way():
    batch = next_batch([law_line(7, {"law/forecast": 0.6, "law/forecast_low": math.nan}, 9.5)], Ledger())
    assert sent(batch) == [("law/forecast", 7, 0.6)]
    assert batch.metrics[0].timestamp == 9500


def test_a13_non_finite_values_are_counted_not_sent():
    bad = step(1, loss=0.5) | {"nonfinite": {"reward": "nan", "grad_norm": "inf"}}
    batch = next_batch([bad, bad | {"step": 2}, bad | {"step": 2, "attempt": 1}], Ledger())
    assert batch.tags[NONFINITE] == "grad_norm 2, reward 2"
    assert sent(batch) == [("loss", 1, 0.5), ("loss", 2, 0.5)]


def test_the_spread_of_a_single_prompt_is_no_news():
    assert nonfinite_names(evaluation(1, outcomes=(1.0,))) == []
    assert nonfinite_names(evaluation(1, outcomes=(None,))) == ["eval_reward"]


def test_a_batch_ends_between_steps():
    entries = [step(number, **{f"m{index}": 1.0 for index in range(200)}) for number in range(5)]
    batch = next_batch(entries, Ledger())
    assert len(batch.metrics) == 600 >= BATCH
    assert [entry["step"] for entry in batch.rest] == [3, 4]


def test_the_best_checkpoint_is_a_tag():
    line = {"kind": "checkpoint", "time": 1.0, "attempt": 0, "step": 10, "path": "checkpoints/best-10", "role": "best"}
    assert next_batch([line], Ledger()).tags == {BEST_CHECKPOINT: "step 10: checkpoints/best-10"}


def test_a_metric_carries_the_time_of_its_line():
    assert [metric.timestamp for metric in entry_metrics(step(3, reward=0.5))] == [103_000]
