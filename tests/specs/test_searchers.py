"""Names of samplers and pruners: as Optuna has them."""

import inspect

import optuna
import pytest

from grpo_ops.errors import SpecError
from grpo_ops.specs import PRUNERS, SAMPLERS, PrunerSpec
from grpo_ops.specs.searchers import sampler_name

#: Cannot be made from settings alone, or are there to be inherited from.
OTHER_SAMPLERS = {"BaseSampler", "BaseGASampler", "PartialFixedSampler"}
OTHER_PRUNERS = {"BasePruner", "NopPruner"}


def classes(module):
    return {name for name in module.__all__ if inspect.isclass(getattr(module, name))}


def test_the_names_are_optunas():
    assert set(SAMPLERS.values()) == classes(optuna.samplers) - OTHER_SAMPLERS
    assert set(PRUNERS.values()) == classes(optuna.pruners) - OTHER_PRUNERS
    assert {"law", "none", *PRUNERS} == set(PrunerSpec.model_json_schema()["properties"]["name"]["enum"])


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("tpe", "tpe"),
        ("TPESampler", "tpe"),
        ("CMA-ES", "cmaes"),
        ("CmaEsSampler", "cmaes"),
        ("BruteForceSampler", "brute_force"),
        ("bruteforce", "brute_force"),
        ("NSGAIIISampler", "nsgaiii"),
    ],
)
def test_samplers_go_by_short_or_class_name(word, name):
    assert sampler_name(word) == name


def test_unknown_samplers_and_misplaced_options_are_refused():
    with pytest.raises(ValueError, match="'annealing' is no sampler for one objective; known: tpe, random, gp"):
        sampler_name("annealing")
    for name, hint in (("law", "its knob is caution"), ("none", "it has none")):
        with pytest.raises(SpecError, match=f"options: they belong to Optuna's own pruners, not to '{name}'; {hint}"):
            PrunerSpec.checked({"name": name, "options": {"patience": 1}}, "pruner")
    assert PrunerSpec(name="sha", options={"min_resource": 24}).is_optunas
