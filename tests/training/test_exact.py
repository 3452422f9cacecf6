"""A killed and resumed run is the run that was never killed, beyond the first epoch and with shared generations."""

import pytest

from grpo_ops.journal import read_journal

LONG = ("grpo.max_steps=60", "checkpoints.every=20", "evaluation.every=100")
SEVERAL_EPOCHS = (*LONG, "task.train_size=36")  # nine steps each
SHARED = (
    *LONG,
    "checkpoints.every=18",  # due at 18, in the middle of a generation: saved at 20
    "grpo.steps_per_generation=4",
    "grpo.num_iterations=2",
    "grpo.gradient_accumulation_steps=2",
    "grpo.per_device_train_batch_size=8",
)


@pytest.mark.parametrize(("name", "settings"), [("epochs", SEVERAL_EPOCHS), ("shared", SHARED)])
def test_a_killed_run_goes_on_as_if_it_had_not_been(runs, look, name, settings):
    whole = runs.make(f"{name}-whole", *settings)
    runs.finish(whole)
    folder = runs.make(f"{name}-killed", *settings)
    process = runs.start(folder)
    look.until(folder, "checkpoint", 20, process)
    look.kill(process)
    runs.finish(runs.make(f"{name}-killed", *settings, attempt=1))
    again = [entry for entry in read_journal(folder.journal) if entry["attempt"] == 1 and entry["kind"] == "step"]
    assert len(again) >= 20 and again[0]["step"] > 20
    expected = {entry["step"]: entry["metrics"] for entry in look.lines(whole, "step")}
    for entry in again:
        assert _own(entry["metrics"]) == pytest.approx(_own(expected[entry["step"]]), abs=1e-6), entry["step"]


def _own(metrics):
    """What the training itself makes of a step; only the step that generates has a reward."""
    return {name: value for name, value in metrics.items() if name != "step_time"}
