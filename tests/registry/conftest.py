from pathlib import Path

import pytest

from tests.registry.studies import Workshop
from tests.tracking.fixtures import home, migrated_database, server

__all__ = ["home", "migrated_database", "server"]


@pytest.fixture(scope="session")
def base_path(tmp_path_factory) -> Path:
    """A tiny Llama with random weights, saved."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    path = tmp_path_factory.mktemp("base")
    LlamaForCausalLM(LlamaConfig(vocab_size=40, **sizes)).save_pretrained(path)
    return path


@pytest.fixture(scope="session")
def adapter(base_path, tmp_path_factory) -> Path:
    """A LoRA adapter of the tiny Llama that changes its answers."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    model = get_peft_model(
        AutoModelForCausalLM.from_pretrained(base_path), LoraConfig(r=4, target_modules=["q_proj", "v_proj"])
    )
    torch.manual_seed(1)
    for name, weights in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weights)
    path = tmp_path_factory.mktemp("adapter")
    model.save_pretrained(path)
    return path


@pytest.fixture
def workshop(home, adapter) -> Workshop:
    return Workshop(home, adapter)
