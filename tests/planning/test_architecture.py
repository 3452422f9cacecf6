"""Parameters from config: exact, against published numbers, real models and real adapters."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("peft")

from peft import LoraConfig, get_peft_model
from transformers import AutoConfig, AutoModelForCausalLM

from grpo_ops.errors import PlanError
from grpo_ops.planning import architecture_of
from grpo_ops.specs import LoraSettings
from tests.planning.shapes import PUBLISHED, SMALL, published, shape, small


def count(model, *, only_trained=False):
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad or not only_trained)


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameters_of_public_models_are_the_published_ones(name):
    config, parameters = published(name)
    found = architecture_of(config)
    assert (found.parameters, found.trainable, found.adapter) == (parameters, parameters, 0)
    assert found.is_known


@pytest.mark.parametrize(
    ("name", "active"),
    [("Mixtral-8x7B", 12.88e9), ("Qwen3-30B-A3B", 3.35e9), ("Llama-3.1-8B", 8.03e9), ("Qwen3-0.6B", 0.596e9)],
)
def test_active_parameters_are_as_published(name, active):
    """Published numbers count the embedding, which no token is multiplied with, once where it is not tied."""
    config, _ = published(name)
    untied = 0 if config.tie_word_embeddings else config.vocab_size * config.hidden_size
    assert architecture_of(config).active + untied == pytest.approx(active, rel=0.005)


@pytest.mark.parametrize("name", SMALL)
def test_every_family_is_known_and_its_parameters_are_those_of_a_real_model(name):
    config = small(name)
    found, model = architecture_of(config), AutoModelForCausalLM.from_config(config)
    assert found.is_known
    assert (found.parameters, found.trainable) == (count(model), count(model, only_trained=True))
    matrices = sum(matrix.inputs * matrix.outputs for matrix in found.matrices)
    assert matrices <= found.parameters


_ALL = {"target_modules": "all-linear"}
_BIASED = {"r": 4, "target_modules": ("q_proj", "k_proj"), "bias": "lora_only"}
_DORA = {"r": 16, "target_modules": ("o_proj",), "use_dora": True}


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        *((name, _ALL) for name in SMALL),
        *((name, s) for name in ("qwen2", "gemma2", "mixtral") for s in (_BIASED, _DORA)),
    ],
)
def test_trainable_parameters_are_those_of_a_real_adapter(name, settings):
    lora = LoraSettings(**settings)
    found = architecture_of(small(name), lora)
    model = AutoModelForCausalLM.from_config(small(name))
    whole = count(model)
    adapted = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", **lora.model_dump()))
    assert found.trainable == count(adapted, only_trained=True)
    assert (found.parameters, found.adapter) == (whole, count(adapted) - whole)


@pytest.mark.parametrize("name", ["llama", "qwen2", "gemma3", "phi"])
def test_without_targets_the_modules_are_pefts_own(name):
    found = architecture_of(small(name), LoraSettings())
    adapted = get_peft_model(AutoModelForCausalLM.from_config(small(name)), LoraConfig(task_type="CAUSAL_LM"))
    assert found.trainable == count(adapted, only_trained=True) > 0


@pytest.mark.parametrize("kind", ["mamba", "deepseek_v3", "qwen3_next"])
def test_an_architecture_that_the_formulas_do_not_know_is_counted_and_not_guessed(kind):
    settings = shape(512, 64, 96, 2, 4, 4, moe_intermediate_size=32)
    if kind == "mamba":
        settings = {name: settings[name] for name in ("vocab_size", "hidden_size", "num_hidden_layers")}
    config = AutoConfig.for_model(kind, **settings)
    found = architecture_of(config)
    assert not found.is_known
    assert found.parameters == count(AutoModelForCausalLM.from_config(config))
    assert [matrix.inputs * matrix.outputs for matrix in found.matrices] == [found.parameters]
    assert found.layers == ()


@pytest.mark.parametrize(
    ("config", "lora", "sentence"),
    [
        (small("llama"), LoraSettings(target_modules=("nonsense",)), "PEFT cannot adapt a 'llama'"),
        (small("mixtral"), LoraSettings(), "PEFT cannot adapt a 'mixtral'"),
    ],
)
def test_what_cannot_be_made_is_one_sentence(config, lora, sentence):
    with pytest.raises(PlanError) as error:
        architecture_of(config, lora)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
