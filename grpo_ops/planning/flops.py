"""FLOPs of a sequence: forward, backward, generation. Two FLOPs for a multiply-add, as torch's FlopCounterMode counts.

Only matrix products are counted: norms, activations, softmax, sampling and the optimizer are left out, which together
are small beside them. Attention is counted over all pairs of tokens, as masked attention computes it and as
FlopCounterMode counts it: kernels that skip what is masked do half of that part (causal) or less (sliding window). Of
LoRA on experts, what makes the change of the experts' weights is left out: it is a cost by the step.
"""

from dataclasses import dataclass

from grpo_ops.planning.architecture import Architecture, Matrix


@dataclass(frozen=True, slots=True)
class Sequence:
    """What goes through the model: `length` tokens, of which the head is applied to `scored`."""

    length: float
    scored: float


def forward_flops(model: Architecture, sequence: Sequence) -> float:
    """FLOPs of a forward pass over one sequence.

    With weights W a token and L layers of H heads of size d: 2 W length + 4 L H d length² (Kaplan et al. 2020,
    arXiv 2001.08361, table 1, here with each matrix by its own size).
    """
    layers = sum(matrix.flops for matrix in model.matrices)
    return sequence.length * layers + sequence.scored * model.head.flops + _attention(model, sequence.length)


def backward_flops(model: Architecture, sequence: Sequence, *, checkpointing: bool = False) -> float:
    """FLOPs of a backward pass over one sequence.

    A matrix costs its forward pass once more for the gradient of its input, and once more for that of its weights where
    they are trained: twice where all is trained, once for weights that are frozen under LoRA. Attention costs twice.
    With checkpointing each layer's forward pass is done again, but for a last matrix whose output nothing needs.
    """
    layers = sum(_gradients(model, matrix, checkpointing) * matrix.flops for matrix in model.matrices)
    head = (1 + model.head.trainable) * model.head.flops
    gradients = sequence.length * layers + sequence.scored * head + 2 * _attention(model, sequence.length)
    return gradients + (_again(model, sequence) if checkpointing else 0.0)


def loss_flops(model: Architecture, sequence: Sequence, *, checkpointing: bool = False) -> float:
    """FLOPs that TRL spends on one sequence in a training step: forward, backward, and the logits twice.

    TRL's loss keeps no logits: its backward pass computes them again, in tiles (trl/kernels/chunked_logprob.py).
    """
    logits_again = sequence.scored * model.head.flops
    return forward_flops(model, sequence) + backward_flops(model, sequence, checkpointing=checkpointing) + logits_again


def prefill_flops(model: Architecture, prompt: float) -> float:
    """FLOPs of reading a prompt into the KV cache; logits are made for its last token alone."""
    return forward_flops(model, Sequence(prompt, 1))


def decode_flops(model: Architecture, prompt: float, completion: float) -> float:
    """FLOPs of the tokens after the first one, with a KV cache: token t attends to the t before it and itself."""
    steps = max(completion - 1, 0)
    matrices = sum(matrix.flops for matrix in model.matrices) + model.head.flops
    pairs = steps * prompt + steps * (steps + 1) / 2
    return steps * matrices + pairs * sum(layer.flops for layer in model.layers)


def _attention(model: Architecture, length: float) -> float:
    return length**2 * sum(layer.flops for layer in model.layers)


def _gradients(model: Architecture, matrix: Matrix, checkpointing: bool) -> int:
    """Gradients that are computed by a matrix: of its input, of its weights.

    Under checkpointing PEFT's enable_input_require_grads makes the embedding's output need a gradient.
    """
    needs_input = not matrix.reads_embedding or model.trains_embedding or checkpointing
    return int(needs_input) + int(matrix.trainable)


def _again(model: Architecture, sequence: Sequence) -> float:
    matrices = sum(matrix.flops for matrix in model.matrices if not matrix.ends_layer)
    return sequence.length * matrices + _attention(model, sequence.length)
