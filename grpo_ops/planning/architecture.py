"""The nouns of the arithmetic: what a token is multiplied with, what it attends to, and how many weights there are."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Matrix:
    """A weight matrix that tokens pass through; of experts, one expert's.

    uses: how often a token passes it (experts a token for experts, else 1).
    trainable: its weights get a gradient. adapter: it belongs to a LoRA adapter.
    reads_embedding: its input is the normalised embedding, which needs no gradient where the embedding is frozen.
    ends_layer: nothing keeps its output for the backward pass, so that checkpointing does not compute it again.
    """

    name: str
    inputs: int
    outputs: int
    uses: float = 1.0
    trainable: bool = True
    adapter: bool = False
    reads_embedding: bool = False
    ends_layer: bool = False

    @property
    def flops(self) -> float:
        """FLOPs of one token's forward pass: two a weight, a multiplication and an addition."""
        return 2.0 * self.inputs * self.outputs * self.uses


@dataclass(frozen=True, slots=True)
class Attention:
    """Attention of one layer. window: how many tokens back it looks, None for all."""

    heads: int
    kv_heads: int
    head_dim: int
    window: int | None = None

    @property
    def flops(self) -> float:
        """FLOPs for one pair of a query token and a key token, all heads: the score, and the value it weighs."""
        return 4.0 * self.heads * self.head_dim

    @property
    def cached(self) -> int:
        """Numbers that the KV cache holds for a token."""
        return 2 * self.kv_heads * self.head_dim


@dataclass(frozen=True, slots=True)
class Architecture:
    """A model as far as its cost goes, read from its config.

    parameters: weights of the model, tied ones once, without adapters. trainable: weights that get a gradient.
    adapter: weights of the LoRA adapter. dtype: precision that the config names.
    layers: one entry a layer; matrices: those of all layers, adapters included; head: the output projection.
    is_known: False where the formulas do not know the architecture. `matrices` is then one with all weights (the rule
    of two FLOPs a weight and token), `layers` is empty, and there is no KV cache and no activation to be told.
    """

    model_type: str
    parameters: int
    trainable: int
    adapter: int
    dtype: str
    hidden_size: int
    vocab_size: int
    layers: tuple[Attention, ...]
    matrices: tuple[Matrix, ...]
    head: Matrix
    trains_embedding: bool
    is_known: bool = True

    @property
    def active(self) -> int:
        """Weights that one token passes: all but the experts it is not sent to, and of the embedding nothing."""
        passed = [matrix for matrix in (*self.matrices, self.head) if not matrix.adapter]
        return round(sum(matrix.inputs * matrix.outputs * matrix.uses for matrix in passed))
