"""A study that is there already: found by its name, with the spec that it was made from."""

from pathlib import Path

import optuna

from grpo_ops.errors import SweepError
from grpo_ops.home import Home, without_password
from grpo_ops.specs import SweepSpec
from grpo_ops.sweep import study as studies
from grpo_ops.sweep.attributes import SPEC

_MOST_NAMED = 5


def load_existing(name: str, home: Home, storage: str | None = None) -> optuna.Study:
    """The study `name` in `storage` (default: the home's own). Raises SweepError where it is not there."""
    url = storage or home.optuna_url
    place = Path(url.removeprefix("sqlite:///"))
    if url.startswith("sqlite:///") and not place.exists():  # connecting would make the file
        raise SweepError(f"there is no study in {place}: that file does not exist")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        return optuna.load_study(study_name=name, storage=url)
    except KeyError:
        known = optuna.get_all_study_names(url)
        named = ", ".join(known[-_MOST_NAMED:]) or "none"
        raise SweepError(f"there is no study {name!r} in {without_password(url)}; the newest: {named}") from None


def spec_of(study: optuna.Study, storage: str | None = None) -> SweepSpec:
    """The spec that the study was made from, with its trials counted. Raises SweepError for a study of others."""
    fixed = study.user_attrs.get(SPEC)
    if not isinstance(fixed, dict):
        raise SweepError(f"study {study.study_name} was not made by grpo-ops: it does not say from which spec")
    trials = max(1, sum(not studies.is_repeat(trial) for trial in studies.last_attempts(study).values()))
    return SweepSpec.checked({**fixed, "trials": trials, "storage": storage}, f"the spec of study {study.study_name}")
