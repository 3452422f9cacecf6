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
        ("rewards.0.timeout_seconds", "{low=1, high=2}", False),
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
            '{"grpo.per_device_train_batch_size"={choices=[8,9]}, "grpo.num_generations"={choices=[5,16]},'
            ' "grpo.learning_rate"={low=1e-5, high=1e-3, log=true}}',
            [
                "space: no combination of grpo.per_device_train_batch_size and grpo.num_generations is a valid run",
                "valid here: 2, 4, 8",
            ],
        ),
        (
            '{"grpo.per_device_train_batch_size"={low=1, high=512}, "grpo.num_generations"={low=2, high=512}}',
            ["have more than 50000 combinations; give choices or a step"],
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


BATCHES = '"grpo.per_device_train_batch_size"={choices=[8,12,64]}, "grpo.num_generations"={choices=[4,6,16]}'
BATCH, GROUP = "grpo.per_device_train_batch_size", "grpo.num_generations"


def test_axes_that_constrain_each_other_keep_their_valid_combinations():
    space = sweep(f"{{{BATCHES}}}").searched
    valid = [(8, 4), (12, 4), (12, 6), (64, 4), (64, 16)]
    assert [tuple(point.values()) for point in space.valid] == valid
    assert [tuple(point.values()) for point in space.points()] == valid
    assert space.is_valid({BATCH: 12, GROUP: 6}) and not space.is_valid({BATCH: 8, GROUP: 6})
    assert space.fitting({GROUP: 4, "seed": 1}) == [{BATCH: batch, GROUP: 4} for batch in (8, 12, 64)]
    assert space.repairs({BATCH: 8, GROUP: 16}, {}) == [{BATCH: 8, GROUP: 4}, {BATCH: 64, GROUP: 16}]
    assert space.repairs({BATCH: 8, GROUP: 16}, {GROUP: 16}) == [{BATCH: 64, GROUP: 16}]
    assert space.repairs({BATCH: 12, GROUP: 6}, {}) == [{BATCH: 12, GROUP: 6}]
    assert space.repairs({BATCH: 8}, {GROUP: 5}) == []


def test_a_space_that_binds_nothing_has_no_linked_axes():
    assert sweep(f'{{"{BATCH}"={{choices=[32,64]}}, "{GROUP}"={{choices=[4,8]}}}}').searched.linked == ()


CONDITIONAL = (
    '{"lora.r"={choices=[4,8], only_if={"lora"=true}}, "lora"={choices=[true,false]},'
    ' "grpo.epsilon_high"={low=0.2, high=0.4, only_if={"grpo.num_generations"=[16], "lora"=false}},'
    ' "grpo.num_generations"={choices=[8,16]}}'
)


def test_conditional_axes_come_after_what_they_depend_on():
    spec = sweep(CONDITIONAL)
    assert list(spec.searched.axes) == ["lora", "lora.r", GROUP, "grpo.epsilon_high"]
    full = {"lora": False, "lora.r": 4, GROUP: 16, "grpo.epsilon_high": 0.3}
    assert spec.searched.active(full) == {"lora": False, GROUP: 16, "grpo.epsilon_high": 0.3}
    assert spec.searched.active(full | {"lora": True}) == {"lora": True, "lora.r": 4, GROUP: 16}
    assert spec.with_parameters({"lora": False}).lora is None
    assert spec.with_parameters({"lora.r": 4, "lora": True}).lora.r == 4
    with pytest.raises(SpecError, match=r'lora\.r: there is no lora where lora = false; add only_if = {"lora" = true}'):
        spec.with_parameters({"lora.r": 4, "lora": False})
    assert SweepSpec.model_validate_json(spec.model_dump_json()) == spec


def test_a_point_without_all_axes_is_freed_of_what_it_contradicts():
    space = sweep(CONDITIONAL).searched
    assert space.consistent({"lora.r": 4, GROUP: 8}) == {"lora.r": 4, GROUP: 8}
    assert space.consistent({"lora.r": 4, "lora": False}) == {"lora": False}
    assert space.consistent({"grpo.epsilon_high": 0.3, GROUP: 8}) == {GROUP: 8}


def test_a_chain_of_conditions_falls_as_a_whole():
    spec = sweep(
        '{"grpo.beta"={choices=[0.0,0.1]}, "grpo.loss_type"={choices=["grpo","dapo"], only_if={"grpo.beta"=0.1}},'
        ' "grpo.epsilon_high"={low=0.2, high=0.4, only_if={"grpo.loss_type"="dapo"}}}'
    )
    full = {"grpo.beta": 0.0, "grpo.loss_type": "dapo", "grpo.epsilon_high": 0.3}
    assert spec.searched.active(full) == {"grpo.beta": 0.0}
    assert spec.searched.active(full | {"grpo.beta": 0.1}) == full | {"grpo.beta": 0.1}


def test_validity_goes_by_what_is_drawn():
    """Batches of 12 are drawn only with groups of 4 or 6, so the fault of 12 with 16 is none."""
    spec = sweep(
        '{"grpo.num_generations"={choices=[4,16]},'
        ' "grpo.per_device_train_batch_size"={choices=[12,20], only_if={"grpo.num_generations"=4}}}'
    )
    assert spec.searched.linked == ()
    assert spec.searched.active({GROUP: 16, BATCH: 12}) == {GROUP: 16}


@pytest.mark.parametrize(
    ("space", "sentence"),
    [
        ('{"lora.r"={low=1, high=8, only_if={"lora"=true}}}', "space.lora.r.only_if.lora: is not in the space"),
        (
            '{"lora.r"={low=1, high=8, only_if={"seed"=[1, 9]}}, "seed"={low=0, high=3}}',
            "space.lora.r.only_if.seed: 9 is outside between 0 and 3",
        ),
        (
            '{"lora.r"={low=1, high=8, only_if={"grpo.beta"=0.1}}, "grpo.beta"={low=0, high=1}}',
            "space.lora.r.only_if.grpo.beta: is a range over any number; a condition needs choices",
        ),
        ('{"lora.r"={low=1, high=8, only_if={"seed"=[]}}, "seed"={low=0, high=3}}', "no value is outside"),
        (
            '{"lora.r"={low=1, high=8, only_if={"seed"=1}}, "seed"={low=0, high=3, only_if={"lora.r"=2}}}',
            "space: only_if goes in a circle: ",
        ),
        ('{"lora.r"={low=1, high=8}, "lora"={choices=[true,false]}}', 'add only_if = {"lora" = true}'),
    ],
)
def test_conditions_that_cannot_be(space, sentence):
    with pytest.raises(SpecError) as caught:
        sweep(space)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("space", "point", "fault"),
    [
        (CONDITIONAL, '{"lora"=true, "lora.r"=8}', None),
        (CONDITIONAL, '{"lora.r"=8}', "enqueue.0.lora.r: is drawn only if lora is True; give that, too"),
        (CONDITIONAL, '{"lora"=false, "lora.r"=8}', "enqueue.0.lora.r: is drawn only if lora is True"),
        (f"{{{BATCHES}}}", '{"grpo.num_generations"=16}', None),
        (f"{{{BATCHES}}}", '{"grpo.num_generations"=6, "grpo.per_device_train_batch_size"=64}', "not divisible"),
    ],
)
def test_enqueued_points_of_conditional_and_linked_spaces(space, point, fault):
    if fault is None:
        assert sweep(space, f"enqueue=[{point}]").enqueue
        return
    with pytest.raises(SpecError) as caught:
        sweep(space, f"enqueue=[{point}]")
    assert fault in str(caught.value)


@pytest.mark.parametrize(
    ("axes", "most", "expected"),
    [
        ({"a": [1, 2], "b": [3, 4]}, 10, [(1, 3), (1, 4), (2, 3), (2, 4)]),
        ({"a": [1, 2]}, 2, [(1,), (2,)]),
        ({}, 2, [()]),
    ],
)
def test_points(axes, most, expected):
    assert [tuple(point.values()) for point in points(axes, most)] == expected


def test_points_of_a_large_space_are_drawn():
    found = list(points({"a": range(1000), "b": range(1000)}, 50))
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
