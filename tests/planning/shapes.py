"""Architectures from config: public models at full size, and small ones of the same families that run in a moment."""

import torch
from torch.utils.flop_counter import FlopCounterMode, addmm_flop
from transformers import AutoConfig


def shape(vocab, hidden, intermediate, layers, heads, kv_heads, **more):
    """The settings that all families share, under transformers' names."""
    return {
        "vocab_size": vocab,
        "hidden_size": hidden,
        "intermediate_size": intermediate,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        **more,
    }


_TIED, _UNTIED = {"tie_word_embeddings": True}, {"tie_word_embeddings": False}
_EXPERTS = {"num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768}

#: model type, settings, and the number of parameters that is published for it.
PUBLISHED = {
    "Qwen2.5-0.5B": ("qwen2", shape(151936, 896, 4864, 24, 14, 2, **_TIED), 494_032_768),
    "Qwen2.5-7B": ("qwen2", shape(152064, 3584, 18944, 28, 28, 4, **_UNTIED), 7_615_616_512),
    "Qwen3-0.6B": ("qwen3", shape(151936, 1024, 3072, 28, 16, 8, head_dim=128, **_TIED), 596_049_920),
    "Llama-3.2-1B": ("llama", shape(128256, 2048, 8192, 16, 32, 8, head_dim=64, **_TIED), 1_235_814_400),
    "Llama-3.1-8B": ("llama", shape(128256, 4096, 14336, 32, 32, 8, **_UNTIED), 8_030_261_248),
    "SmolLM2-135M": ("llama", shape(49152, 576, 1536, 30, 9, 3, **_TIED), 134_515_008),
    "Mistral-7B-v0.1": ("mistral", shape(32000, 4096, 14336, 32, 32, 8, **_UNTIED), 7_241_732_096),
    "Phi-3-mini": ("phi3", shape(32064, 3072, 8192, 32, 32, 32, **_UNTIED), 3_821_079_552),
    "Gemma-2-2b": ("gemma2", shape(256000, 2304, 9216, 26, 8, 4, head_dim=256), 2_614_341_888),
    "Mixtral-8x7B": (
        "mixtral",
        shape(32000, 4096, 14336, 32, 32, 8, num_local_experts=8, num_experts_per_tok=2, **_UNTIED),
        46_702_792_704,
    ),
    "Qwen3-30B-A3B": (
        "qwen3_moe",
        shape(151936, 2048, 6144, 48, 32, 4, head_dim=128, **_EXPERTS, **_UNTIED),
        30_532_122_624,
    ),
}

_SMALL = shape(512, 128, 352, 4, 4, 2)
_MOE = {"moe_intermediate_size": 96, "num_experts": 8, "num_experts_per_tok": 2}
_PADDED = {"pad_token_id": 0}

#: name: model type and settings beside _SMALL.
SMALL = {
    "llama": ("llama", {}),
    "llama, tied": ("llama", {"tie_word_embeddings": True, "attention_bias": True, "mlp_bias": True}),
    "qwen2": ("qwen2", {}),
    "qwen3": ("qwen3", {"head_dim": 48}),
    "gemma": ("gemma", {"head_dim": 64}),
    "gemma2": ("gemma2", {"head_dim": 64, "sliding_window": 32}),
    "gemma3": ("gemma3_text", {"head_dim": 64, "sliding_window": 32}),
    "phi": ("phi", {"num_hidden_layers": 8}),
    "phi3": ("phi3", _PADDED),
    "mistral": ("mistral", {}),
    "smollm3": ("smollm3", _PADDED),
    "granite": ("granite", {}),
    "olmo2": ("olmo2", {}),
    "mixtral": ("mixtral", {"num_local_experts": 8, "num_experts_per_tok": 2}),
    "qwen3_moe": ("qwen3_moe", _MOE),
    "qwen2_moe": ("qwen2_moe", dict(shared_expert_intermediate_size=64, **_MOE)),
    "olmoe": ("olmoe", {"num_experts": 8, "num_experts_per_tok": 2}),
    "granitemoe": ("granitemoe", {"num_local_experts": 8, "num_experts_per_tok": 2}),
}


def small(name, **changes):
    """The config of a small model; attention and experts are computed so that each product is one that is counted."""
    kind, settings = SMALL[name]
    config = AutoConfig.for_model(kind, **{**_SMALL, **settings, **changes})
    config._attn_implementation = "eager"
    config._experts_implementation = "eager"
    return config


def published(name):
    """The config of a public model, and its published number of parameters."""
    kind, settings, parameters = PUBLISHED[name]
    return AutoConfig.for_model(kind, **settings), parameters


def counted(run):
    """FLOPs of run(), by torch; products that are added in place, as TRL's loss does, it leaves out by itself."""

    def in_place(_self, a, b, *_, out_shape=None, **__):
        return addmm_flop(_self, a, b)

    with FlopCounterMode(display=False, custom_mapping={torch.ops.aten.addmm_: in_place}) as counter:
        run()
    return counter.get_total_flops()
