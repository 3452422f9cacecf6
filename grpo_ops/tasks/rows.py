"""From the records of a table to rows: which column is the prompt, what of the answer counts, who speaks first."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from grpo_ops.errors import TaskError
from grpo_ops.specs.data import DataSpec
from grpo_ops.tasks.types import Prompt, Row

#: Stands before the final answer in GSM8K's format.
FINAL = "####"


def table_rows(table: Iterable[Mapping[str, Any]], source: str, spec: DataSpec) -> list[Row]:
    """The rows of a table, all with the same columns and the same kind of prompt.

    source: what the table is called in an error. Raises TaskError where a record lacks its prompt or answer, or has
    them in another form than `spec` says; it names the row's number, from 1.
    """
    rows = [_row(record, f"{source}, row {number}", spec) for number, record in enumerate(table, start=1)]
    return same_kind(same_columns(rows))


def with_system(prompt: Prompt, system_prompt: str | None) -> Prompt:
    """The prompt as messages with `system_prompt` first; as it is where there is none, or where it has its own."""
    if system_prompt is None:
        return prompt
    messages = as_messages(prompt)
    if messages[0]["role"] == "system":
        return messages
    return [{"role": "system", "content": system_prompt}, *messages]


def as_messages(prompt: Prompt) -> list[dict[str, Any]]:
    """Text as one message of the user."""
    return [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt


def same_kind(rows: Sequence[Row]) -> list[Row]:
    """Where some prompts are messages, text becomes messages: a trainer takes one kind."""
    if all(isinstance(row.prompt, str) for row in rows):
        return list(rows)
    return [Row.of(as_messages(row.prompt), row.answer, row.columns) for row in rows]


def same_columns(rows: Sequence[Row]) -> list[Row]:
    """Every row with every column, None where it has no value."""
    names = sorted({name for row in rows for name in row.columns})
    return [Row(row.id, row.prompt, row.answer, {name: row.columns.get(name) for name in names}) for row in rows]


def _row(record: Mapping[str, Any], where: str, spec: DataSpec) -> Row:
    wanted = (spec.prompt_column, spec.answer_column)
    missing = [name for name in wanted if not isinstance(record, Mapping) or record.get(name) is None]
    if missing:
        found = ", ".join(record) if isinstance(record, Mapping) else repr(record)[:80]
        raise TaskError(f"{where}: no {missing[0]!r}; it has {found}")
    prompt = with_system(_prompt(record[spec.prompt_column], where), spec.system_prompt)
    others = {name: value for name, value in record.items() if name not in wanted}
    answer = str(record[spec.answer_column])
    if spec.answer_format == "gsm8k":
        others["solution"], answer = _worked(answer, where)
    return Row.of(prompt, answer, others)


def _prompt(value: Any, where: str) -> Prompt:
    is_messages = isinstance(value, list) and value and all(_is_message(part) for part in value)
    if not isinstance(value, str) and not is_messages:
        raise TaskError(f"{where}: the prompt {value!r:.80} is neither text nor messages with role and content")
    return value  # type: ignore[no-any-return]


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and "role" in value and "content" in value


def _worked(answer: str, where: str) -> tuple[str, str]:
    """GSM8K: the worked solution, and the final answer without thousands separators."""
    solution, mark, final = answer.rpartition(FINAL)
    if not mark or not final.strip():
        raise TaskError(f"{where}: answer_format = 'gsm8k' but nothing follows {FINAL} in the answer {answer[-80:]!r}")
    return solution.strip(), final.strip().replace(",", "")
