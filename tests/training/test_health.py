"""What is wrong with a run is named while it trains, and ends it where it cannot go on or the spec says so."""

import json
import math

import pytest

from grpo_ops.errors import TrainingError
from grpo_ops.journal import Journal, RunFolder
from grpo_ops.law.diagnostics import journal_diagnoses
from grpo_ops.specs import RunSpec, with_settings
from grpo_ops.training.health import LOOKS, STRIKES, Health, are_finite
from tests.training.conftest import SPEC

REWARDS = """
def zero(prompts, completions, **_):
    return [0.0] * len(prompts)

def too_large(prompts, completions, **_):
    return [3e38 * (-1) ** index for index in range(len(prompts))]
"""
WRONG = "no signal: all wrong"


@pytest.fixture
def finish(runs, look):
    """Runs the trainer with a reward of REWARDS: its folder and result."""
    (runs.root / "house_health.py").write_text(REWARDS)

    def go(reward, *settings, code=0):
        rewards = f"rewards=[{{name='house_health:{reward}'}}]"
        folder = runs.make(reward, rewards, "evaluation.every=100", *settings, allow_import_paths=True)
        return folder, runs.finish(folder, code)

    return go


def test_c23_a_reward_of_zero_is_named_and_ends_the_run_where_the_spec_says_so(finish, look):
    """Row C23."""
    folder, result = finish("zero", f"stopping.symptoms=['{WRONG}']")
    (line,) = look.lines(folder, "diagnosis")
    assert (line["symptom"], line["severity"], line["since_step"]) == (WRONG, "critical", 1)
    assert line["step"] == 8  # the first look with enough points
    assert (result["reason"], result["stop"]["reason"]) == ("stopped", "diverged")
    assert result["stop"]["message"].startswith(f"{WRONG} since step 1: In 100% of the groups all completions score")
    assert result["step"] == result["last_checkpoint"]["step"] == 11  # looks at 8 and 10, obeyed at the next step


def test_c3_advantages_that_are_no_numbers_fail_the_run(finish, look):
    """Row C3: its loss is logged as 0, which would pass for a success."""
    folder, result = finish("too_large", "grpo.scale_rewards=none", code=1)
    assert result["reason"] == "failed"
    message = "TrainingError: the gradient norm of step 1 is nan and the weights after it are no numbers any more; "
    assert result["message"].startswith(message)
    (step,), (diagnosis,) = look.lines(folder, "step"), look.lines(folder, "diagnosis")
    assert (step["metrics"]["loss"], step["nonfinite"]["grad_norm"]) == (0.0, "nan")
    assert (diagnosis["symptom"], diagnosis["severity"], diagnosis["step"]) == ("not finite", "critical", 1)


@pytest.fixture
def healthy_model():
    from torch import nn

    return nn.Linear(2, 2)


@pytest.fixture
def patient(tmp_path):
    """A run folder, and the health of an attempt at it: told(*settings, attempt=...) opens the next one."""
    folder = RunFolder(tmp_path)

    def told(*settings, attempt=0):
        spec = RunSpec.checked(with_settings(json.loads(json.dumps(SPEC)), settings), "test")
        return Health.of(folder, Journal(folder.journal, attempt), spec)

    return told


def trained(health, first, last, **metrics):
    """Steps as the trainer writes them, each with its look."""
    for step in range(first, last + 1):
        values = {name: value(step) if callable(value) else value for name, value in metrics.items()}
        health.journal.step(step, {"reward": 0.0, **values})
        health.look(step)
    return [(found.symptom.value, found.severity.value) for found in journal_diagnoses(health.folder.entries())]


def diagnoses(health):
    return [(entry["step"], entry["severity"]) for entry in health.folder.entries() if entry["kind"] == "diagnosis"]


def test_no_run_is_stopped_that_was_not_told_so(patient):
    health = patient()
    assert trained(health, 1, 40, frac_reward_zero_std=1.0) == [(WRONG, "critical")]
    assert diagnoses(health) == [(8, "critical")]
    assert health.folder.stop_request() is None


def test_what_gets_worse_is_said_once_more(patient):
    health = patient("grpo.max_steps=100")
    share = {"completions/clipped_ratio": lambda step: 0.3 if step <= 40 else 0.95}
    rising = {"reward": lambda step: 0.1 + step / 200 + 0.01 * (step % 2)}
    assert ("truncation", "critical") in trained(health, 1, 100, **share, **rising)
    assert [severity for _, severity in diagnoses(health)] == ["warning", "critical"]


@pytest.mark.parametrize("stands", [True, False])
def test_one_look_ends_no_run(patient, stands):
    """100 steps are looked at every fifth one; from step 11 on the groups differ again, or they do not."""
    health = patient(f"stopping.symptoms=['{WRONG}']", "grpo.max_steps=100")
    trained(health, 1, 10, frac_reward_zero_std=1.0)
    assert (health.suspects, health.folder.stop_request()) == (frozenset({WRONG}), None)
    trained(health, 11, 15, frac_reward_zero_std=1.0 if stands else 0.0)
    assert (health.folder.stop_request() is not None) is stands


def test_the_last_step_is_no_longer_stopped(patient):
    health = patient(f"stopping.symptoms=['{WRONG}']", "grpo.max_steps=9")
    trained(health, 1, 9, frac_reward_zero_std=1.0)
    assert health.folder.stop_request() is None


def test_the_next_attempt_repeats_nothing(patient):
    trained(patient(), 1, 20, frac_reward_zero_std=1.0)
    health = patient(attempt=1)
    trained(health, 11, 40, frac_reward_zero_std=1.0)
    assert diagnoses(health) == [(8, "critical")]


def test_what_was_thawed_is_not_stopped_for_its_health_again(patient):
    first = patient(f"stopping.symptoms=['{WRONG}']")
    trained(first, 1, 10, frac_reward_zero_std=1.0)
    first.journal.append("end", reason="stopped", message=f"diverged: {first.folder.stop_request()['message']}")
    first.folder.stop.unlink()
    health = patient(f"stopping.symptoms=['{WRONG}']", attempt=1)
    trained(health, 11, 40, frac_reward_zero_std=1.0)
    assert health.folder.stop_request() is None


@pytest.mark.parametrize("steps", [10, 20, 40, 1000])
def test_a_run_is_looked_at_twenty_times_at_most(patient, steps):
    health = patient(f"grpo.max_steps={steps}")
    looks = [step for step in range(1, steps + 1) if health.is_due(step)]
    assert len(looks) == min(steps, LOOKS)


@pytest.mark.parametrize(
    ("norms", "fails"),
    [
        ([math.inf] * (STRIKES - 1) + [1.0] + [math.inf] * (STRIKES - 1), False),
        ([1.0, math.nan, 1.0], False),
        ([1.0] + [math.inf] * STRIKES, True),
        ([math.nan, math.inf, math.nan], True),
    ],
    ids=["a loss scaler skips some", "one", "three in a row", "of either kind"],
)
def test_c3_single_gradients_are_forgiven_and_three_in_a_row_are_not(patient, healthy_model, norms, fails):
    """Row C3. With rewards of 1e37 the norm is infinite, clipping makes 0 of it, and the weights never move."""
    health = patient()

    def go():
        for step, norm in enumerate(norms, start=1):
            health.check(step, {"reward": 0.5, "loss": 0.0, "grad_norm": norm}, healthy_model)

    if fails:
        with pytest.raises(TrainingError, match=f"not finite at 3 steps in a row, up to step {len(norms)} "):
            go()
    else:
        go()
    assert diagnoses(health) == ([(len(norms), "critical")] if fails else [])


@pytest.mark.parametrize("name", ["reward", "loss"])
def test_c3_a_reward_or_a_loss_that_is_no_number_fails_at_once(patient, healthy_model, name):
    with pytest.raises(TrainingError, match=f"the {name} of step 4 is nan; look for"):
        patient().check(4, {"reward": 0.5, "loss": 0.1, name: math.nan}, healthy_model)


def test_only_weights_that_are_trained_are_looked_at(healthy_model):
    assert are_finite(healthy_model)
    healthy_model.bias.data[0] = math.inf
    assert not are_finite(healthy_model)
    healthy_model.bias.requires_grad_(False)
    assert are_finite(healthy_model)
