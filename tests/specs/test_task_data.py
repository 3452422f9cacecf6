"""Task settings: mixtures name their data part by part, and a chosen order is not shuffled away."""

from pathlib import Path

import pytest

from grpo_ops.errors import SpecError
from grpo_ops.specs import RunSpec, load_spec

RUN = Path(__file__).parents[2] / "deployments/runs/demo.toml"
GYM = '{source="reasoning_gym", name="chain_sum"}'
FILE = '{source="jsonl", path="data/gsm.jsonl", weight=3}'


def spec_of(*settings):
    return load_spec(RunSpec, RUN, ("model.id=org/model", *settings))


def mixture(*parts, more=""):
    return f'task={{source="mixture", parts=[{", ".join(parts)}]{more}}}'


def test_a_mixture_knows_its_sources_and_what_its_parts_are_called():
    task = spec_of(mixture(GYM, FILE)).task
    assert task.sources == {"reasoning_gym", "jsonl"}
    assert [(part.called, part.weight) for part in task.parts] == [("chain_sum", 1.0), ("gsm", 3.0)]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ((mixture(GYM),), "task.parts: a mixture needs two parts or more but has 1"),
        ((mixture(GYM, GYM),), "task.parts: 2 parts are called 'chain_sum'; give each its own label"),
        ((mixture(GYM, FILE, more=', path="a.jsonl"'),), "task.path: a mixture's data are named by its parts"),
        ((mixture(GYM, '{source="mixture"}'),), "task.parts.1.source: 'mixture' is not known here"),
        ((mixture(GYM, FILE.replace("3", "0")),), "task.parts.1.weight: input should be greater than 0, but got 0"),
        ((mixture(GYM, '{source="jsonl"}'),), "task.parts.1.path: source = 'jsonl' needs a path"),
        ((mixture(GYM, '{source="starter", name="arith"}'),), "'starter' prompts suit starter models only"),
        ((f'task={{source="jsonl", path="a", parts=[{GYM}]}}',), "task.parts: only a mixture has parts"),
        (('task={source="jsonl", path="a", order="as_given"}',), "need grpo.shuffle_dataset = false"),
        (('task={source="jsonl", path="a", curriculum_column="n"}',), "need grpo.shuffle_dataset = false"),
    ],
)
def test_what_does_not_fit_together_is_one_sentence(settings, sentence):
    with pytest.raises(SpecError) as caught:
        spec_of(*settings)
    assert sentence in str(caught.value)
    assert len(caught.value.faults) == 1


def test_an_order_and_no_shuffling_agree():
    assert spec_of('task={source="jsonl", path="a", order="as_given"}', "grpo.shuffle_dataset=false").task.in_order
