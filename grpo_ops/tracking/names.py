"""Names in MLflow: our tags, what MLflow allows in a name, which status follows from which ending."""

import posixpath
import re
from enum import Enum

from grpo_ops.errors import TrackingError

TAG = "grpo_ops."
RUN_KEY = TAG + "run_key"
STUDY = TAG + "study"
KIND = TAG + "kind"
ENDING = TAG + "ending"
STOP_REASON = TAG + "stop_reason"
NONFINITE = TAG + "nonfinite"
UNSCORABLE = TAG + "unscorable"
REWARD_DIGEST = TAG + "reward_digest"
NOT_COMPARABLE = TAG + "not_comparable"
PARAMS_CHANGED = TAG + "params_changed"
BEST_CHECKPOINT = TAG + "best_checkpoint"
UPLOAD = TAG + "upload"
DIAGNOSIS = TAG + "diagnosis."
SUPERVISOR = TAG + "supervisor"
PARENT = "mlflow.parentRunId"
NOTE = "mlflow.note.content"

#: Ending of a run to MLflow's run status.
STATUSES = {
    "finished": "FINISHED",
    "plateau": "FINISHED",
    "hopeless": "KILLED",
    "diverged": "KILLED",
    "cancelled": "KILLED",
    "failed": "FAILED",
}

#: MLflow's own limit on a tag is 8000 characters, and it cuts silently.
TAG_LENGTH = 5000
_NAME_LENGTH = 250
_REFUSED = re.compile(r"[^0-9A-Za-z_\-. :/]")


def status_of(ending: str) -> str:
    """MLflow's status for an ending; raises TrackingError for a word that is no ending."""
    try:
        return STATUSES[plain(ending)]
    except KeyError:
        raise TrackingError(f"{ending!r} is no ending; known: {', '.join(STATUSES)}") from None


def plain(word: str) -> str:
    """`word` as a plain string (an enum member formats as `Ending.FINISHED`)."""
    return str(word.value) if isinstance(word, Enum) else word


def clean_name(name: str) -> str:
    """`name` as MLflow takes it for a metric or param: `rewards/f(x)/mean` becomes `rewards/f_x_/mean`."""
    name = _REFUSED.sub("_", name)[:_NAME_LENGTH]
    is_path = posixpath.normpath(name) == name and name[:1] not in (".", "/")
    return name if is_path else name.replace("/", "_").lstrip(".") or "_"


def cut(text: str, length: int) -> str:
    """`text`, its end replaced by an ellipsis where it is longer than `length`."""
    return text if len(text) <= length else text[: length - 1] + "…"


def diagnosis_tag(symptom: str) -> str:
    """The tag of a symptom: `no signal: all wrong` is `grpo_ops.diagnosis.no_signal_all_wrong`."""
    return DIAGNOSIS + re.sub(r"[^a-z0-9]+", "_", symptom.lower()).strip("_")


def quoted(value: str) -> str:
    """`value` for a filter of MLflow's search. Raises TrackingError where it holds a quote: MLflow cannot take it."""
    if "'" in value or '"' in value:
        raise TrackingError(f"{value!r} holds a quote, which MLflow's search cannot take")
    return f"'{value}'"
