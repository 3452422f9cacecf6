"""The tokens by which a completion ends: padding, end of sequence, and what the chat template writes after a turn."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

_ANSWER = "42"
_TURNS = [{"role": "user", "content": "What is 6 * 7?"}, {"role": "assistant", "content": _ANSWER}]


@dataclass(frozen=True, slots=True)
class Token:
    """A token's id and its text."""

    id: int
    text: str

    def __str__(self) -> str:
        return f"{self.id} {self.text!r}"


@dataclass(frozen=True, slots=True)
class EndTokens:
    """pad: what fills up a batch (the trainer takes the tokenizer's eos where it has no pad token).

    eos: every token that ends a completion, the tokenizer's own first, then those of the model's generation_config.
    turn: the special token that the chat template writes after an assistant's turn; None without template or token.
    """

    pad: Token | None
    eos: tuple[Token, ...]
    turn: Token | None

    @classmethod
    def of(cls, tokenizer: Any, declared: Iterable[int]) -> "EndTokens":
        """declared: the eos ids of the model's generation_config."""

        def token(number: int) -> Token:
            return Token(number, str(tokenizer.convert_ids_to_tokens(number)))

        own = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
        pads = own if tokenizer.pad_token_id is None else [tokenizer.pad_token_id]
        turn = turn_id(tokenizer)
        return cls(
            token(pads[0]) if pads else None,
            tuple(token(number) for number in dict.fromkeys([*own, *declared])),
            None if turn is None else token(turn),
        )

    def lines(self) -> Iterator[str]:
        """For a person: what each of the three is."""
        yield f"pad: {self.pad or 'none'}"
        yield f"eos: {', '.join(map(str, self.eos)) or 'none'}"
        yield f"end of turn: {self.turn or 'none'}"

    def warnings(self, chat: bool) -> Iterator[str]:
        """What is unusual about them; chat: whether the prompts are messages.

        Row C19. Several eos ids are no cause for one: since 1.16, the oldest TRL that grpo-ops takes, every one of them
        ends a completion and none counts as clipped.
        """
        if self.pad is not None and self.pad in self.eos:
            yield (
                f"model.id: pad and eos are the same token, {self.pad}: GRPO here masks by length and sees the ends, "
                "but fine-tuning that masks by the pad id would not learn to end; a pad token of its own is safer"
            )
        if chat and self.turn is not None and self.turn not in self.eos:
            ends = ", ".join(map(str, self.eos))
            yield (
                f"model.id: the chat template ends a turn with {self.turn}, which ends no completion (eos: {ends}): "
                "completions would run on to max_completion_length and completions/clipped_ratio be near 1; "
                f"add {self.turn.id} to eos_token_id in the model's generation_config.json"
            )


def end_faults(tokenizer: Any) -> Iterator[str]:
    """A completion that cannot end: TRL reads the tokenizer's eos token, whatever the model declares besides."""
    if tokenizer.eos_token_id is None:
        yield "model.id: the tokenizer has no eos token, which TRL needs; set eos_token in tokenizer_config.json"


def turn_id(tokenizer: Any) -> int | None:
    """The first special token that the chat template writes after an assistant's answer."""
    from jinja2 import TemplateError

    if not tokenizer.chat_template:
        return None
    try:
        rendered = tokenizer.apply_chat_template(_TURNS, tokenize=False)
    except TemplateError:  # a template for other conversations says nothing of this one's end
        return None
    special = {number for number, token in tokenizer.added_tokens_decoder.items() if token.special}
    after = tokenizer(rendered.rpartition(_ANSWER)[2], add_special_tokens=False)["input_ids"]
    return next((number for number in after if number in special), None)
