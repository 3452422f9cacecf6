"""Bytes on one GPU: every GPU holds the whole model (data parallel), as the trainer does without FSDP or DeepSpeed.

Left out: the CUDA context and the allocator's fragments (allow 1 to 3 GiB), autocast's copies of float32 weights,
and what a reward model takes. Colocated vLLM takes the share of the GPU that the spec gives it.
"""

from dataclasses import dataclass

from grpo_ops.planning.architecture import Architecture, Attention
from grpo_ops.specs import GRPOSettings

WIDTHS = {"float32": 4, "bfloat16": 2, "float16": 2}
#: Tiles of logits in TRL's loss: tokens by vocabulary (trl/kernels/chunked_logprob.py, trl/trainer/utils.py).
_TILE_TOKENS, _TILE_VOCABULARY = 4096, 32768
_FLOAT32 = 4
#: States that an optimizer keeps for a trained weight, by a part of its name; the first that fits counts.
_STATES = (
    ("ademamix", 3),
    ("grokadam", 3),
    ("lion", 1),
    ("rmsprop", 1),
    ("adagrad", 1),
    ("adalomo", 0),
    ("lomo", 0),
    ("adafactor", 0),
    ("galore", 1),
    ("apollo", 1),
    ("schedule_free_sgd", 1),
    ("sgd", 0),
    ("adam", 2),
)


@dataclass(frozen=True, slots=True)
class Batch:
    """What is on one GPU at once, at worst. trained: completions of a micro step; generated: of a generation.

    compute: bytes a number of the activations (2 under bf16 or fp16 autocast). vllm: bytes that vLLM takes here, None
    where transformers generates; sleeps: it gives them back during the optimiser step.
    """

    trained: int
    generated: int
    prompt: int
    completion: int
    compute: int
    vllm: float | None = None
    sleeps: bool = False

    @property
    def length(self) -> int:
        return self.prompt + self.completion


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes by what they are for. activations, kv_cache: 0 where the architecture is unknown.

    vllm: what colocated vLLM holds all the time; one that sleeps during the optimiser step is put under kv_cache.
    """

    weights: float
    reference: float
    gradients: float
    optimizer: float
    activations: float
    logits: float
    kv_cache: float
    decode_logits: float
    vllm: float

    @property
    def peak(self) -> float:
        """What is always there, and the larger of what training and generating need: they take turns."""
        always = self.weights + self.reference + self.gradients + self.optimizer + self.vllm
        return always + max(self.activations + self.logits, self.kv_cache + self.decode_logits)


def memory_of(model: Architecture, grpo: GRPOSettings, batch: Batch, dtype: str) -> Memory:
    """The memory of a run. dtype: precision of the weights; PEFT keeps adapters in float32."""
    own_cache = batch.vllm is None
    width = WIDTHS[dtype]
    trained_width = _FLOAT32 if model.adapter else width
    copies = int(grpo.beta != 0 and not model.adapter)  # with an adapter the reference is the model without it
    return Memory(
        weights=model.parameters * width + model.adapter * _FLOAT32,
        reference=copies * model.parameters * width,
        gradients=model.trainable * trained_width,
        optimizer=model.trainable * optimizer_bytes(grpo.optim, trained_width),
        activations=batch.trained * activation_bytes(model, batch, grpo.gradient_checkpointing),
        logits=_loss_logits(model, batch),
        kv_cache=batch.generated * kv_cache_bytes(model, batch.length, width) if own_cache else _asleep(batch),
        decode_logits=2 * _FLOAT32 * batch.generated * model.vocab_size * own_cache,
        vllm=0.0 if own_cache else (batch.vllm or 0.0) - _asleep(batch),
    )


def optimizer_bytes(name: str, width: int) -> float:
    """Bytes of state for one trained weight of `width` bytes: 8 for AdamW on float32, 2 for its 8-bit kinds.

    torch keeps a state in the weight's own precision. GaLore and APOLLO keep states of low rank; one state is an upper
    bound. Adafactor's factors, which grow with rows and columns only, are left out, as are quantisation's scales.
    """
    states = next(count for part, count in _STATES if part in name)
    if "8bit" in name:
        return float(states)
    return states * 0.5 if "4bit" in name else float(states * width)


def kv_cache_bytes(model: Architecture, length: float, width: int) -> float:
    """Bytes of keys and values of one sequence; a layer with a sliding window keeps no more than that."""
    return width * sum(layer.cached * _kept(layer, length) for layer in model.layers)


def activation_bytes(model: Architecture, batch: Batch, checkpointing: bool) -> float:
    """Bytes that one sequence keeps for the backward pass, up to the head.

    Derived here: of each matrix its input and its output once, and of two norms a layer a float32 copy of their input.
    Attention is taken to keep no scores (sdpa, flash; Gemma 2 runs eager, and does). With checkpointing: each layer's
    input, and one whole layer while it is computed again. A test holds it against what autograd saves, within 35 %.
    Gemma 3, which has twice the norms, keeps half as much again.
    """
    if not model.layers:
        return 0.0
    base = (matrix for matrix in model.matrices if not matrix.adapter)
    numbers = sum(matrix.uses * (matrix.inputs + matrix.outputs) for matrix in base)
    norms = len(model.layers) * 2 * model.hidden_size * _FLOAT32
    everything = batch.length * (numbers * batch.compute + norms)
    if not checkpointing:
        return everything
    inputs = len(model.layers) * batch.length * model.hidden_size * batch.compute
    return inputs + everything / len(model.layers)


def _loss_logits(model: Architecture, batch: Batch) -> float:
    """A tile of logits, the float32 gradient of the hidden states, and that of the head where it is trained."""
    tokens = batch.trained * batch.completion
    tile = min(tokens, _TILE_TOKENS) * min(model.vocab_size, _TILE_VOCABULARY) * batch.compute
    head = model.head.trainable * model.head.inputs * model.head.outputs
    return tile + _FLOAT32 * (tokens * model.hidden_size + head)


def _asleep(batch: Batch) -> float:
    return (batch.vllm or 0.0) if batch.sleeps else 0.0


def _kept(layer: Attention, length: float) -> float:
    return length if layer.window is None else min(length, layer.window)
