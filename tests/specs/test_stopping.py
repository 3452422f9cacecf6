"""Row C23: which diagnoses end a run is a setting, by the names that the journal has for them."""

from pathlib import Path

import pytest

from grpo_ops.errors import SpecError
from grpo_ops.law.diagnostics import CAN_BE_CRITICAL
from grpo_ops.specs import RunSpec, load_spec

DEMO = Path(__file__).parents[2] / "deployments/runs/demo.toml"


def test_nothing_is_stopped_by_default():
    assert load_spec(RunSpec, DEMO).stopping.symptoms == ()


@pytest.mark.parametrize("symptom", sorted(CAN_BE_CRITICAL))
def test_whatever_can_be_critical_can_end_a_run(symptom):
    assert load_spec(RunSpec, DEMO, (f'stopping.symptoms=["{symptom.value}"]',)).stopping.symptoms == (symptom,)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("stale rollout", "'stale rollout' is no diagnosis that ends a run; did you mean 'stale rollouts'?"),
        ("entropy colapse", "'entropy colapse' is no diagnosis that ends a run; did you mean 'entropy collapse'?"),
        ("zzz", "'zzz' is no diagnosis that ends a run; known: clip saturation, collapse, entropy collapse, kl growth"),
        ("no signal: all correct", "'no signal: all correct' is never critical, so it ends no run; known: clip"),
        ("plateau", "'plateau' is never critical, so it ends no run; known: clip saturation"),
    ],
)
def test_another_name_is_answered_with_the_nearest(name, sentence):
    with pytest.raises(SpecError) as caught:
        load_spec(RunSpec, DEMO, (f'stopping.symptoms=["{name}"]',))
    assert f"stopping.symptoms: {sentence}" in str(caught.value)
