"""The CSV export of a W&B chart: columns named `run - metric`, with the extremes of each point beside them."""

from collections.abc import Mapping, Sequence
from typing import Any

from grpo_ops.errors import CurveError
from grpo_ops.reading.names import REWARD_NAMES, is_reward, listed, recognised

Columns = Mapping[str, Sequence[Any]]
_BETWEEN = " - "
_EXTREMES = ("__MIN", "__MAX")


def one_run(columns: Columns, source: str, reward: str | None) -> tuple[Columns, str | None]:
    """The columns of one run under the names of its metrics, and the reward's name there; any other table as it is.

    Raises CurveError where the chart shows several runs and `reward` names none of their columns.
    """
    rewards = [name for name in columns if _BETWEEN in name and (name == reward or is_reward(_split(name)[1]))]
    if reward in rewards:
        run, metric = _split(reward)
        return _columns_of(columns, run), metric
    if not rewards or reward in columns or (reward is None and recognised(columns, REWARD_NAMES)):
        return columns, reward
    return _columns_of(columns, _only_run(rewards, source)), reward


def _only_run(rewards: Sequence[str], source: str) -> str:
    runs = list(dict.fromkeys(_split(name)[0] for name in rewards))
    if len(runs) > 1:
        raise CurveError(
            f"{source} holds the rewards of {len(runs)} runs, {listed(runs)}: choose one by its column, "
            f"such as reward={rewards[0]!r}"
        )
    return runs[0]


def _columns_of(columns: Columns, run: str) -> Columns:
    own = {name: cells for name, cells in columns.items() if _BETWEEN not in name}
    for name, cells in columns.items():
        if _BETWEEN in name and not name.endswith(_EXTREMES) and _split(name)[0] == run:
            own[_split(name)[1]] = cells
    return own


def _split(name: str) -> tuple[str, str]:
    run, _, metric = name.rpartition(_BETWEEN)
    return run, metric
