"""The search space: ranges of the right kind of number, and no combination that is no valid run."""

from pathlib import Path

import pytest

from grpo_ops.errors import SpecError
from grpo_ops.specs import Distribution, RunSpec, SweepSpec, load_spec
from grpo_ops.specs.combinations import points
from grpo_ops.specs.fields import is_whole_number

SWEEP = Path(__file__).parents[2] / "deployments/sweeps/demo.toml"


def sweep(space, *settings):
    return load_spec(SweepSpec, SWEEP, (f"space={space}", *settings))


@pytest.mark.parametrize(
    ("path", "range_", "is_integer"),
    [
        ("grpo.weight_decay", "{low=0.0, high=1.0}", False),
        ("grpo.weight_decay", "{low=0, high=1}", False),
        ("grpo.learning_rate", "{low=1e-5, high=1, log=true}", False),
        ("grpo.min_p", "{low=0, high=1}", False),
        ("lora.r", "{low=4, high=64, log=true}", True),
        ("lora.r", "{low=4.0, high=64.0}", True),
        ("grpo.generation_batch_size", "{low=128, high=512, step=128}", True),
        ("seed", "{low=0, high=1000000000}", True),
        ("rewards.0.weight", "{low=1, high=2}", False),
        ("grpo.extra.num_completions_to_print", "{low=1, high=2}", True),
        ("grpo.extra.delta", "{low=1.0, high=2.0}", False),
        ("task.config.max_terms", "{low=2, high=4}", True),
    ],
)
def test_the_setting_says_whether_a_range_is_over_whole_numbers(path, range_, is_integer):
    spec = sweep(f'{{"{path}"={range_}}}')
    assert spec.is_integer(path) is is_integer
    assert SweepSpec.model_validate_json(spec.model_dump_json()).is_integer(path) is is_integer


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("grpo.max_steps", True),
        ("grpo.steps_per_generation", True),
        ("grpo.epsilon_high", False),
        ("grpo.bf16", None),
        ("grpo.loss_type", None),
        ("grpo", None),
        ("grpo.max_steps.x", None),
        ("no.such", None),
        ("a..b", None),
        ("lora.target_modules", None),
    ],
)
def test_what_kind_of_number_a_field_takes(path, expected):
    assert is_whole_number(RunSpec, path) is expected


@pytest.mark.parametrize(
    ("space", "sentences"),
    [
        ('{"lora.r"={low=4.5, high=8}}', ["space.lora.r: 4.5 is no whole number"]),
        ('{"lora.r"={low=4, high=8, step=0.5}}', ["space.lora.r: 0.5 is no whole number"]),
        (
            '{"grpo.num_generations"={low=2, high=16}}',
            ["space.grpo.num_generations = 3: ", "valid here: 2, 4, 8, 16, 32", "11 combinations are no valid runs"],
        ),
        (
            '{"grpo.per_device_train_batch_size"={choices=[8,64]}, "grpo.num_generations"={choices=[8,16]},'
            ' "grpo.learning_rate"={low=1e-5, high=1e-3, log=true}}',
            ["space.grpo.per_device_train_batch_size = 8, grpo.num_generations = 16: ", "valid here: 2, 4, 8"],
        ),
        (
            '{"grpo.num_generations"={choices=[8,7]}, "lora.r"={low=1, high=256}, "seed"={low=0, high=999}}',
            ["space.grpo.num_generations = 7: "],
        ),
        (
            '{"grpo.num_generations"={choices=[8,4]}, "lora.r"={low=1, high=256}, "grpo.epsilon"={low=0, high=999}}',
            ["space.grpo.epsilon = 0.0: grpo.epsilon: input should be greater than 0"],
        ),
        ('{"grpo.bf16"={low=0.5, high=1}}', ["space.grpo.bf16 = 0.5"]),
        ('{"a..b"={low=1, high=2}}', ["'a..b' is no dotted path"]),
        ('{"lora.r"={choices=[1], log=true}}', ["log and step belong to low and high"]),
    ],
)
def test_an_invalid_combination_is_named(space, sentences):
    with pytest.raises(SpecError) as caught:
        sweep(space)
    for sentence in sentences:
        assert sentence in str(caught.value)


def test_axes_that_are_valid_only_together_are_taken():
    spec = sweep('{"grpo.per_device_train_batch_size"={choices=[256]}, "grpo.num_generations"={choices=[256,32]}}')
    assert list(spec.values("grpo.num_generations")) == [256, 32]


def test_an_enqueued_point_is_completed_from_the_space():
    space = '{"grpo.per_device_train_batch_size"={choices=[256]}, "grpo.num_generations"={choices=[256,32]}}'
    assert sweep(space, 'enqueue=[{"grpo.num_generations"=256}]').enqueue
    with pytest.raises(SpecError, match=r"enqueue\.0: lora\.r: input should be a valid integer"):
        sweep('{"lora.r"={low=1, high=8}}', 'enqueue=[{"lora.r"=4.5}]')


@pytest.mark.parametrize(
    ("axes", "linked", "most", "expected"),
    [
        ({"a": [1, 2], "b": [3, 4]}, [], 10, [(1, 3), (1, 4), (2, 3), (2, 4)]),
        ({"a": [1, 2], "b": range(9)}, ["a"], 4, [(1, 0), (2, 0), (1, 0), (1, 8)]),
        ({"a": [1, 2], "b": ["x", "y"]}, ["b"], 3, [(1, "x"), (1, "y"), (1, "x"), (2, "x")]),
    ],
)
def test_points(axes, linked, most, expected):
    assert [tuple(point.values()) for point in points(axes, linked, most)] == expected


def test_a_large_linked_space_is_sampled():
    found = list(points({"a": range(1000), "b": range(1000)}, ["a", "b"], 50))
    assert len(found) == 50 == len({tuple(point.values()) for point in found})


@pytest.mark.parametrize(
    ("distribution", "whole", "values", "text"),
    [
        ({"low": 1, "high": 8}, True, range(1, 9), "between 1 and 8"),
        ({"low": 1, "high": 8, "step": 3}, True, range(1, 9, 3), "between 1 and 8"),
        ({"low": 1, "high": 8}, False, (1.0, 8.0), "between 1 and 8"),
        ({"low": 2.5, "high": 2.5}, False, (2.5,), "between 2.5 and 2.5"),
        ({"choices": (1, "a")}, True, (1, "a"), "one of 1, 'a'"),
    ],
)
def test_values_of_a_distribution(distribution, whole, values, text):
    found = Distribution(**distribution)
    assert (found.values(whole), str(found)) == (values, text)
    assert all(found.holds(value) for value in values)
    assert not found.holds("b") and not found.holds(True)
