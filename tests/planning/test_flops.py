"""FLOPs of the formulas against what torch's FlopCounterMode counts in real models, each within 5 %."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("peft")

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

from grpo_ops.planning import architecture_of
from grpo_ops.planning.flops import (
    Sequence,
    backward_flops,
    decode_flops,
    forward_flops,
    loss_flops,
    prefill_flops,
)
from grpo_ops.specs import LoraSettings
from tests.planning.shapes import SMALL, counted, small

BATCH, LENGTH = 2, 64
MIXTURES = ("mixtral", "qwen3_moe", "qwen2_moe", "olmoe", "granitemoe")
#: Attention alone, and every linear layer; on experts of rank 1, since what changes their weights is not counted.
LORA = {
    "none": lambda name: None,
    "two": lambda name: LoraSettings(r=4, target_modules=("qkv_proj",) if name == "phi3" else ("q_proj", "v_proj")),
    "all-linear": lambda name: LoraSettings(r=1 if name in MIXTURES else 8, target_modules="all-linear"),
}


def made(name, lora, checkpointing=False):
    """A real model as TRL prepares it."""
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(small(name))
    if lora is not None:
        model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", **lora.model_dump()))
    if checkpointing:
        model.gradient_checkpointing_enable()
        if lora is not None:
            model.enable_input_require_grads()
    return model.train()


def tokens(length=LENGTH):
    return torch.randint(1, 512, (BATCH, length), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize(
    ("lora", "checkpointing"), [("none", False), ("none", True), ("two", False), ("all-linear", True)]
)
@pytest.mark.parametrize("name", SMALL)
def test_forward_and_backward(name, lora, checkpointing):
    settings, outputs = LORA[lora](name), []
    # What changes the experts' weights is a cost by the step: small where tokens are many, as they are in training.
    length = 4 * LENGTH if lora == "all-linear" and name in MIXTURES else LENGTH
    model, whole = made(name, settings, checkpointing), Sequence(length, length)
    forward = counted(lambda: outputs.append(model(tokens(length), use_cache=False).logits.sum()))
    backward = counted(outputs[0].backward)
    found = architecture_of(small(name), settings)
    assert BATCH * forward_flops(found, whole) == pytest.approx(forward, rel=0.05)
    assert BATCH * backward_flops(found, whole, checkpointing=checkpointing) == pytest.approx(backward, rel=0.05)


@pytest.mark.parametrize("name", ["llama", "gemma2", "qwen3_moe"])
def test_generation_with_a_cache(name):
    model, prompt, completion = made(name, None).eval(), 24, 40
    settings = {"max_new_tokens": completion, "min_new_tokens": completion, "pad_token_id": 0, "do_sample": False}
    real = counted(lambda: model.generate(tokens()[:, :prompt], **settings))
    found = architecture_of(small(name))
    formula = prefill_flops(found, prompt) + decode_flops(found, prompt, completion)
    assert BATCH * formula == pytest.approx(real, rel=0.05)


@pytest.mark.parametrize("lora", ["none", "all-linear"])
def test_the_loss_of_trl_computes_its_logits_twice(lora):
    utils = pytest.importorskip("trl.trainer.utils")
    settings = LORA[lora]("llama")
    model = made("llama", settings)
    utils.add_fused_lm_head(model.get_base_model() if settings else model, outputs=("log_probs", "entropy"))
    real = counted(lambda: model(tokens(), labels=tokens(), fused_lm_head=True).log_probs.sum().backward())
    formula = loss_flops(architecture_of(small("llama"), settings), Sequence(LENGTH, LENGTH - 1))
    assert BATCH * formula == pytest.approx(real, rel=0.05)


def test_frozen_weights_cost_one_gradient_and_trained_ones_two():
    whole = Sequence(LENGTH, LENGTH)
    config = small("llama", num_hidden_layers=32)
    trained, adapted = architecture_of(config), architecture_of(config, LoraSettings(r=1, target_modules=("q_proj",)))
    forward = forward_flops(trained, whole)
    assert backward_flops(trained, whole) == 2 * forward
    attention = forward - LENGTH * (sum(matrix.flops for matrix in trained.matrices) + trained.head.flops)
    assert backward_flops(adapted, whole) == pytest.approx(forward + attention, rel=0.02)
