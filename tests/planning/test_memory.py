"""Bytes: against torch's own tensors where there are any, else by hand."""

from typing import get_args

import pytest

pytest.importorskip("torch")

import torch
from transformers import AutoModelForCausalLM

from grpo_ops.planning import architecture_of
from grpo_ops.planning.memory import Batch, activation_bytes, kv_cache_bytes, memory_of, optimizer_bytes
from grpo_ops.specs import GRPOSettings, LoraSettings
from grpo_ops.specs.choices import Optimizer
from tests.planning.shapes import published, small

BATCH, LENGTH = 2, 96


def batch(compute=4):
    return Batch(trained=BATCH, generated=8, prompt=LENGTH - 64, completion=64, compute=compute)


def saved_bytes(model, run):
    """Bytes that autograd keeps between forward and backward, each storage once, weights aside."""
    weights = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    kept = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = tensor  # the tensor itself, so that its storage is not used again
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        run()
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())


@pytest.mark.parametrize("name", ["llama", "qwen2", "qwen3", "mistral", "granite", "phi3", "smollm3", "olmo2"])
def test_activations_are_what_autograd_saves(name):
    config = small(name, vocab_size=64)
    config._attn_implementation = "sdpa"
    model = AutoModelForCausalLM.from_config(config).train()
    tokens = torch.randint(1, 64, (BATCH, LENGTH))
    real = saved_bytes(model, lambda: model.base_model(tokens, use_cache=False))
    assert BATCH * activation_bytes(architecture_of(config), batch(), False) == pytest.approx(real, rel=0.35)


def test_checkpointing_keeps_the_layers_inputs_and_one_layer():
    config = small("llama", num_hidden_layers=16)
    model = architecture_of(config)
    everything, kept = (activation_bytes(model, batch(), checkpointing) for checkpointing in (False, True))
    assert kept == pytest.approx(16 * LENGTH * config.hidden_size * 4 + everything / 16)


@pytest.mark.parametrize("name", ["llama", "qwen3", "gemma2", "gemma3"])
def test_the_kv_cache_is_the_real_one(name):
    """A layer with a sliding window of 32 keeps the last 31 tokens, for the next one to see itself and them."""
    config = small(name)
    model = AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        cache = model(torch.randint(1, 64, (BATCH, LENGTH)), use_cache=True).past_key_values
    real = sum(tensor.nbytes for layer in cache.layers for tensor in (layer.keys, layer.values))
    assert BATCH * kv_cache_bytes(architecture_of(config), LENGTH, 4) == pytest.approx(real, rel=0.04)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    ("name", "kind"), [("adamw_torch", torch.optim.AdamW), ("sgd", torch.optim.SGD), ("adagrad", torch.optim.Adagrad)]
)
def test_optimizer_states_are_torchs(name, kind, dtype):
    weight = torch.nn.Parameter(torch.ones(1000, dtype=dtype))
    optimizer = kind([weight], lr=0.1)
    weight.grad = torch.ones_like(weight)
    optimizer.step()
    states = [value for value in optimizer.state[weight].values() if torch.is_tensor(value) and value.dim()]
    assert 1000 * optimizer_bytes(name, weight.element_size()) == sum(state.nbytes for state in states)


@pytest.mark.parametrize(("name", "states"), [("adamw_8bit", 2), ("lion_32bit", 4), ("adamw_torch_4bit", 1)])
def test_optimizers_by_name(name, states):
    assert optimizer_bytes(name, 4) == states


@pytest.mark.parametrize("name", get_args(Optimizer))
def test_every_optimizer_has_a_size(name):
    assert 0 <= optimizer_bytes(name, 4) <= 12


def test_a_run_of_a_public_model_by_hand():
    """Qwen2.5-0.5B in bfloat16, all weights with AdamW: 2 bytes a weight, 2 for its gradient, 4 for its states."""
    config, parameters = published("Qwen2.5-0.5B")
    run = Batch(trained=8, generated=8, prompt=100, completion=412, compute=2)
    memory = memory_of(architecture_of(config), GRPOSettings(max_steps=1, beta=0.1), run, "bfloat16")
    assert (memory.weights, memory.gradients, memory.reference) == (2 * parameters,) * 3
    assert memory.optimizer == 4 * parameters
    assert memory.kv_cache == 8 * 512 * 24 * 2 * 2 * 64 * 2
    assert memory.peak > 10 * parameters


def test_an_adapter_needs_no_second_model_and_little_else():
    config, parameters = published("Qwen2.5-0.5B")
    adapted = architecture_of(config, LoraSettings(r=8, target_modules="all-linear"))
    memory = memory_of(adapted, GRPOSettings(max_steps=1, beta=0.1), batch(2), "bfloat16")
    assert adapted.trainable == adapted.adapter == 4_399_104
    assert memory.reference == 0
    assert memory.weights == 2 * parameters + 4 * adapted.adapter
    assert (memory.gradients, memory.optimizer) == (4 * adapted.adapter, 8 * adapted.adapter)
