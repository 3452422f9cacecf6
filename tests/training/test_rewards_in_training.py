"""What a trainer logs of its rewards: the weighted sum that is optimised, and what could not be scored."""

import pytest

from grpo_ops.journal import journal_curve, read_journal

REWARDS = """
def digits(completions, id, **_):
    return [None if own == id[0] else sum(map(str.isdigit, text)) / 5 for own, text in zip(id, completions)]

def length(completions, id, **_):
    return [None if own == id[0] else len(text) / 7 for own, text in zip(id, completions)]

def even_steps(completions, trainer_state, **_):
    step = trainer_state.global_step + 1 if trainer_state else 0  # an evaluation has no trainer's state
    return [None if step % 2 else float(len(text)) for text in completions]
"""


@pytest.mark.parametrize("aggregation", ["sum_then_normalize", "normalize_then_sum"])
def test_the_logged_reward_is_the_weighted_sum(runs, look, aggregation):
    """Row C4 as well: both rewards are None on one prompt, whose group of 4 counts as unscorable and not as 0.

    Under normalize_then_sum what is optimised is a sum of normalised rewards, which is 0 on average at every step;
    the logged sum is that of the rewards themselves, by the same weights.
    """
    (runs.root / "weighed.py").write_text(REWARDS)
    rewards = "rewards=[{name='weighed:digits'}, {name='weighed:length', weight=0.5}]"
    settings = (rewards, "grpo.max_steps=2", f"grpo.multi_objective_aggregation={aggregation}", "grpo.temperature=2.0")
    folder = runs.make(f"weighed-{aggregation}", *settings, allow_import_paths=True)
    runs.finish(folder)
    steps = [entry["metrics"] for entry in look.lines(folder, "step")]
    assert len(steps) == 2
    for step in steps:
        parts = step["rewards/digits/mean"], step["rewards/length/mean"]
        assert min(parts) > 0
        assert step["reward"] == pytest.approx(parts[0] + 0.5 * parts[1], rel=1e-5)
        assert step["rewards/unscorable"] == step["rewards/digits/unscored"] == 4


def test_row_c2_steps_without_a_reward_are_gaps(runs, look):
    """Row C2: a reward that is None on odd steps."""
    (runs.root / "gaps.py").write_text(REWARDS)
    folder = runs.make("gaps", "rewards=[{name='gaps:even_steps'}]", "grpo.max_steps=5", allow_import_paths=True)
    result = runs.finish(folder)
    assert (result["reason"], result["step"]) == ("finished", 5)
    steps = {entry["step"]: entry["metrics"] for entry in look.lines(folder, "step")}
    assert [step for step, metrics in steps.items() if metrics.get("rewards/unscorable") == 16] == [1, 3, 5]
    curve = journal_curve(read_journal(folder.journal))
    assert curve.steps == (2, 4)
    assert min(curve.rewards) > 0
