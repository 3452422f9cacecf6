"""A character tokenizer: every character of a task is a token, and so is each of its fixed phrases."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

PAD, BEGIN, END, UNKNOWN = "<pad>", "<s>", "</s>", "<unk>"

#: A plain prompt and the same prompt as a user's message become the same tokens.
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{{ message['content'] }}"
    "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}{% endfor %}"
)


def character_tokenizer(texts: Iterable[str], phrases: Sequence[str], window: int) -> "PreTrainedTokenizerFast":
    """A tokenizer for the characters of `texts` that pads on the left; pad, begin, end and unknown are four tokens.

    window: longest sequence in tokens.
    """
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    characters = sorted({character for text in texts for character in text})
    vocabulary = {token: index for index, token in enumerate([PAD, BEGIN, END, UNKNOWN, *characters])}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")
    backend.decoder = decoders.Fuse()
    backend.add_tokens([AddedToken(phrase, normalized=False) for phrase in phrases])
    backend.post_processor = processors.TemplateProcessing(
        single=f"{BEGIN} $A", special_tokens=[(BEGIN, vocabulary[BEGIN])]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token=PAD,
        bos_token=BEGIN,
        eos_token=END,
        unk_token=UNKNOWN,
        padding_side="left",
        model_max_length=window,
        clean_up_tokenization_spaces=False,
        chat_template=CHAT_TEMPLATE,
    )
