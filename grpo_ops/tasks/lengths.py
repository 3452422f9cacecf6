"""How long a prompt is in the tokens of a model, and which prompts its window has room for."""

from typing import Any

from grpo_ops.errors import TaskError
from grpo_ops.specs import RunSpec
from grpo_ops.tasks.types import Prompt, Row


class Room:
    """The tokens that a model's window leaves to a prompt; it remembers which prompts were measured and too long.

    tokens: most tokens of a prompt. too_long: the tokens of each prompt that has more, by the row's id.
    """

    def __init__(self, tokenizer: Any, tokens: int) -> None:
        self.tokenizer = tokenizer
        self.tokens = tokens
        self.measured: set[str] = set()
        self.too_long: dict[str, int] = {}

    def holds(self, row: Row) -> bool:
        """Whether the row's prompt fits. Raises TaskError as prompt_length does."""
        if row.id not in self.measured:
            self.measured.add(row.id)
            length = prompt_length(self.tokenizer, row.prompt)
            if length > self.tokens:
                self.too_long[row.id] = length
        return row.id not in self.too_long

    def note(self) -> str | None:
        """What was left out, as a sentence; None where nothing was."""
        if not self.too_long:
            return None
        return (
            f"{len(self.too_long)} of {len(self.measured)} prompts looked at are left out: longer than {self.tokens} "
            f"tokens (the longest: {max(self.too_long.values())})"
        )


def room_for(spec: RunSpec, tokenizer: Any, window: int | None) -> Room | None:
    """What `task.too_long = "filter"` measures with; None where it is "refuse", or where the model names no window.

    window: the longest sequence that the model takes, in tokens; grpo.max_completion_length of it are the answer's.
    """
    if spec.task.too_long == "refuse" or window is None:
        return None
    return Room(tokenizer, window - spec.grpo.max_completion_length)


def prompt_length(tokenizer: Any, prompt: Prompt) -> int:
    """Tokens of a prompt as the trainer sees it: messages through the chat template, text as it is.

    Raises TaskError where there is no chat template for messages, or where it refuses them.
    """
    if isinstance(prompt, str):
        return len(tokenizer(prompt, verbose=False)["input_ids"])
    from jinja2 import TemplateError

    if not tokenizer.chat_template:
        raise TaskError(
            "the prompts are messages, but the model's tokenizer has no chat template; leave out system_prompt, bring "
            "text instead of messages, or choose a model that was trained to chat"
        )
    try:
        rendered = tokenizer.apply_chat_template(prompt, add_generation_prompt=True, tokenize=False)
    except TemplateError as error:
        roles = ", ".join(str(message["role"]) for message in prompt)
        raise TaskError(f"the model's chat template refuses a prompt with the roles {roles}: {error}") from error
    return len(tokenizer(rendered, add_special_tokens=False, verbose=False)["input_ids"])
