"""Row C1 with several ranks: a generation is what all of them make together."""

from pathlib import Path

import pytest

from grpo_ops.errors import SpecError
from grpo_ops.specs import RunSpec, SweepSpec, load_spec

DEPLOYMENTS = Path(__file__).parents[2] / "deployments"
SMALL = ("grpo.per_device_train_batch_size=4", "grpo.num_generations=8")


def test_two_ranks_fill_a_group_that_one_does_not():
    assert load_spec(RunSpec, DEPLOYMENTS / "runs/demo.toml", (*SMALL, "launch.processes=2")).launch.processes == 2
    with pytest.raises(SpecError, match=r"grpo.num_generations: 4 completions .* valid here: 2, 4"):
        load_spec(RunSpec, DEPLOYMENTS / "runs/demo.toml", SMALL)


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        (("launch.processes=3",), "grpo.num_generations: 12 completions a generation are not divisible by"),
        (("launch.processes=0",), "launch.processes"),
        (
            ("launch.processes=2", "grpo.generation_batch_size=24", "grpo.per_device_train_batch_size=8"),
            "grpo.generation_batch_size: 24 must be a multiple of per_device_train_batch_size = 8 x 2 processes",
        ),
    ],
)
def test_what_ranks_cannot_share_is_said(settings, fault):
    with pytest.raises(SpecError, match=fault):
        load_spec(RunSpec, DEPLOYMENTS / "runs/demo.toml", (*SMALL, *settings))


def test_a_sweep_draws_what_its_ranks_can_share():
    space = 'space={"grpo.per_device_train_batch_size"={choices=[2,4]}, "grpo.num_generations"={choices=[4,8]}}'
    spec = load_spec(SweepSpec, DEPLOYMENTS / "sweeps/demo.toml", (space, "run.launch.processes=2"))
    paths = spec.searched.linked
    assert [tuple(point[path] for path in paths) for point in spec.searched.valid] == [(2, 4), (4, 4), (4, 8)]
