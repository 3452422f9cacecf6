"""A trial's parameters put into the run that it is a trial of."""

from collections.abc import Mapping
from typing import Any

from grpo_ops.errors import SpecError
from grpo_ops.specs.fields import is_optional_table
from grpo_ops.specs.paths import set_path
from grpo_ops.specs.run import RunSpec


def put_parameters(data: dict[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """`data`, a RunSpec as JSON, with `parameters` (dotted path to value) put in.

    `true` or `false` for a table that may be left out (`lora`) keeps it or takes it out. Raises SpecError for a
    setting in a table that is taken out, and for paths that lead nowhere.
    """
    tables_first = sorted(parameters.items(), key=lambda item: item[0].count("."))
    for table, value in tables_first:
        if isinstance(value, bool) and is_optional_table(RunSpec, table):
            _refuse_settings_in(table, value, parameters)
            data[table] = (data.get(table) or {}) if value else None
        else:
            set_path(data, table, value)
    return data


def _refuse_settings_in(table: str, value: bool, parameters: Mapping[str, Any]) -> None:
    inside = [path for path in parameters if path.startswith(f"{table}.")]
    if inside and not value:
        raise SpecError(
            table, [f'{inside[0]}: there is no {table} where {table} = false; add only_if = {{"{table}" = true}}']
        )
