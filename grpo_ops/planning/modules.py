"""What a model's modules multiply a token with. Nothing is guessed: an unknown weight makes the model unknown."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from grpo_ops.planning.architecture import Architecture, Attention, Matrix

_FIRST_INPUTS = re.compile(r"\.0\.\w*att\w*\.(q|k|v|qkv)_proj(\.base_layer|\.lora_A)?$")
_PARALLEL_INPUTS = re.compile(r"\.0\.mlp\.fc1(\.base_layer|\.lora_A)?$")
_LAST_OUTPUTS = re.compile(r"\.\d+\.mlp\.(down_proj|fc2)$")
_ADAPTER = re.compile(r"\.lora_[AB]\.\w+$")
_KNOWN_LAYERS = {"full_attention", "sliding_attention", "chunked_attention"}


@dataclass(frozen=True)
class Reading:
    """A model on the meta device with what was counted of it. head: its output projection, before it was adapted."""

    model: Any
    config: Any
    head: Any
    parameters: int
    trainable: int
    adapter: int
    trains_embedding: bool


def read_modules(reading: Reading) -> Architecture:
    """The architecture, by the modules where each weight matrix is one that the formulas know, else by the 2N-rule."""
    config = reading.config.get_text_config()
    is_known = config is reading.config and _attends_as_known(config)
    matrices = list(_matrices(reading.model, reading.head, config)) if is_known else [None]
    known = [matrix for matrix in matrices if matrix is not None]
    if len(known) < len(matrices) or reading.head is None:
        return _by_rule(reading, config)
    weight = reading.head.weight
    return Architecture(
        layers=tuple(_attention(config, index) for index in range(config.num_hidden_layers)),
        matrices=tuple(known),
        head=Matrix("head", weight.shape[1], weight.shape[0], trainable=weight.requires_grad),
        **_shared(reading, config),
    )


def _by_rule(reading: Reading, config: Any) -> Architecture:
    everything = Matrix("all weights", 1, reading.parameters, trainable=reading.adapter == 0)
    none = Matrix("head", 0, 0)
    return Architecture(layers=(), matrices=(everything,), head=none, is_known=False, **_shared(reading, config))


def _shared(reading: Reading, config: Any) -> dict[str, Any]:
    return {
        "model_type": reading.config.model_type,
        "parameters": reading.parameters,
        "trainable": reading.trainable,
        "adapter": reading.adapter,
        "dtype": str(getattr(reading.config, "dtype", None) or "float32").removeprefix("torch."),
        "hidden_size": int(getattr(config, "hidden_size", 0) or 0),
        "vocab_size": int(config.vocab_size),
        "trains_embedding": reading.trains_embedding,
    }


def _attends_as_known(config: Any) -> bool:
    """Whether each layer is softmax attention with one head size; not latent attention, convolution or recurrence."""
    kinds = set(getattr(config, "layer_types", None) or ())
    has_heads = all(getattr(config, name, None) for name in ("num_attention_heads", "num_hidden_layers", "hidden_size"))
    return has_heads and kinds <= _KNOWN_LAYERS and getattr(config, "kv_lora_rank", None) is None


def _matrices(model: Any, head: Any, config: Any) -> Iterator[Matrix | None]:
    """A Matrix for each weight of a layer that has two dimensions or more; None for one of an unknown kind."""
    from torch import nn

    for name, module in model.named_modules():
        for weight_name, weight in module.named_parameters(recurse=False):
            if weight.dim() < 2 or isinstance(module, nn.Embedding) or module is head or weight is head.weight:
                continue
            if isinstance(module, nn.Linear) and _is_of_experts(model, name):
                continue  # it makes a change of the experts' weights: a cost by the step, not by the token
            yield _matrix(model, f"{name}.{weight_name}", module, weight, config)


def _matrix(model: Any, name: str, module: Any, weight: Any, config: Any) -> Matrix | None:
    from torch import nn
    from transformers.pytorch_utils import Conv1D

    where = name.removesuffix(".weight")
    experts, active = _experts(config)
    if isinstance(module, nn.Linear | Conv1D):
        outputs, inputs = reversed(weight.shape) if isinstance(module, Conv1D) else weight.shape
        uses = active / experts if experts and re.search(r"\.experts\.\d+\.", name) else 1.0
        return _linear(model, Matrix(where, inputs, outputs, uses, trainable=weight.requires_grad))
    if not experts or weight.shape[0] != experts:
        return None
    if weight.dim() == 3:
        trainable = weight.requires_grad or ".base_layer" in name or _is_wrapped(model, where)
        return Matrix(where, weight.shape[2], weight.shape[1], uses=active, trainable=trainable)
    is_bias = name.endswith("bias")
    return Matrix(where, 0 if is_bias else weight.shape[1], experts, trainable=weight.requires_grad)


def _linear(model: Any, matrix: Matrix) -> Matrix:
    """`matrix` with what its name says about its place."""
    plain = re.sub(r"(\.lora_[AB])\.\w+$", r"\1", matrix.name)
    return replace(
        matrix,
        adapter=bool(_ADAPTER.search(matrix.name)),
        reads_embedding=bool(_FIRST_INPUTS.search(plain)) or _is_parallel(model, plain),
        ends_layer=bool(_LAST_OUTPUTS.search(matrix.name)) and not _is_normalised(model, matrix.name),
    )


def _is_parallel(model: Any, name: str) -> bool:
    """Whether it is the first layer's feed-forward input in blocks where that reads what attention reads (Phi)."""
    if not _PARALLEL_INPUTS.search(name):
        return False
    layer = model.get_submodule(name.rsplit(".mlp.", 1)[0])
    return not any("post_attention" in child for child, _ in layer.named_children())


def _is_normalised(model: Any, name: str) -> bool:
    """Whether the layer normalises what its feed-forward part gives (Gemma 2 and 3, OLMo 2)."""
    layer = model.get_submodule(name.rsplit(".mlp.", 1)[0])
    return any("post_feedforward" in child for child, _ in layer.named_children())


def _is_of_experts(model: Any, name: str) -> bool:
    """Whether a linear layer is an adapter of PEFT's for a weight that is no module (the experts)."""
    parent = _ADAPTER.sub("", name)
    return parent != name and type(model.get_submodule(parent)).__name__ == "ParamWrapper"


def _is_wrapped(model: Any, name: str) -> bool:
    parent = model.get_submodule(name.rsplit(".", 1)[0])
    return type(parent).__name__ == "ParamWrapper"


def _experts(config: Any) -> tuple[int, int]:
    """Experts of a layer, and how many of them a token is sent to; zeros where there are none."""
    names = ("num_local_experts", "num_experts", "n_routed_experts")
    count = next((value for name in names if (value := getattr(config, name, None))), 0)
    return int(count), int(getattr(config, "num_experts_per_tok", 0) or 0)


def _attention(config: Any, index: int) -> Attention:
    heads = config.num_attention_heads
    return Attention(
        heads,
        getattr(config, "num_key_value_heads", None) or heads,
        getattr(config, "head_dim", None) or config.hidden_size // heads,
        _window(config, index),
    )


def _window(config: Any, index: int) -> int | None:
    window = getattr(config, "sliding_window", None)
    kinds = getattr(config, "layer_types", None)
    if window is None or getattr(config, "use_sliding_window", True) is False:
        return None
    return int(window) if kinds is None or kinds[index] != "full_attention" else None
