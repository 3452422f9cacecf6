"""Models of a few thousand random weights with a tokenizer of characters, in a folder as transformers reads it."""

import json
import string
from pathlib import Path
from typing import Any

TURN = "<|turn|>"
#: Ends an assistant's turn with TURN, which is not the tokenizer's eos.
TURN_TEMPLATE = "{% for message in messages %}{{ message['content'] + '<|turn|>' }}{% endfor %}"


def tiny_model(
    folder: Path, *, window: int = 64, template: str | None = TURN_TEMPLATE, weights: bool = False, **names: Any
) -> str:
    """Make the folder; its path. names: `eos` (of generation_config; no file without it) and tokenizer settings.

    The tokens are pad 0, begin 1, end 2, unknown 3, one for each character, and TURN.
    """
    from tokenizers import AddedToken
    from transformers import LlamaConfig, LlamaForCausalLM

    from grpo_ops.tasks.tokenizer import character_tokenizer

    eos = names.pop("eos", None)
    tokenizer = character_tokenizer([string.printable], [], window)
    tokenizer.add_tokens([AddedToken(TURN, special=True, normalized=False)])
    tokenizer.chat_template = template
    for name, token in names.items():
        setattr(tokenizer, name, token)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1}
    config = LlamaConfig(vocab_size=len(tokenizer), max_position_embeddings=window, eos_token_id=2, **sizes)
    tokenizer.save_pretrained(folder)
    config.save_pretrained(folder)
    if weights:
        LlamaForCausalLM(config).save_pretrained(folder)
    if eos is not None:
        (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": eos}))
    return str(folder)
