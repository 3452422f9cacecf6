"""What can be read; the names that trainers and trackers give to steps and rewards, and TRL's names for the rest."""

import re
from collections.abc import Iterable, Sequence

KINDS = (
    "a CSV, a Parquet file, JSON lines, a trainer_state.json, a TensorBoard event file, a run folder, or a console log "
    "with lines such as {'loss': 0.0, 'reward': 0.41}"
)
STEP_NAMES = ("step", "steps", "global_step", "train/global_step", "trainer/global_step", "_step", "iteration", "iter")
REWARD_NAMES = (
    "reward", "train/reward", "rewards/mean", "train/rewards/mean", "reward/mean", "train/reward/mean", "reward_mean",
    "mean_reward", "rewards", "critic/rewards/mean", "critic/score/mean", "env/reward", "return",
)  # fmt: skip
_LISTED = 8


def recognised(names: Iterable[str], known: Sequence[str]) -> str | None:
    """The first of `known` that is among `names`, as `names` spells it; case, blanks and dots do not matter."""
    plain = {_plain(name): name for name in reversed(list(names))}
    return next((plain[name] for name in known if name in plain), None)


def is_reward(name: str) -> bool:
    return _plain(name) in REWARD_NAMES


def trl_name(name: str) -> str:
    """TRL's name of what a tracker shows: `train/kl` is `kl`, `eval/reward` is `eval_reward`."""
    if name.startswith("eval/"):
        return f"eval_{name.removeprefix('eval/')}"
    return name.removeprefix("train/") or name


def listed(names: Iterable[str]) -> str:
    """The names for a message: quoted, the first ones only."""
    quoted = [repr(name) for name in names]
    more = f" and {len(quoted) - _LISTED} more" if len(quoted) > _LISTED else ""
    return ", ".join(quoted[:_LISTED]) + more or "no columns"


def _plain(name: str) -> str:
    return re.sub(r"[\s.]+", "/", name.strip().lower())
