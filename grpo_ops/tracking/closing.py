"""How a run ended, said in MLflow: final metrics, tags, a description in words, and last the status."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from mlflow import MlflowClient
from mlflow.entities import Metric

from grpo_ops.journal import Entry, RunFolder, write_atomically
from grpo_ops.tracking.connection import speaking
from grpo_ops.tracking.names import ENDING, NOTE, STOP_REASON, clean_name, cut, plain, status_of
from grpo_ops.tracking.note import run_note
from grpo_ops.tracking.plan import PENDING_FILE, RunPlan, read_record
from grpo_ops.tracking.sending import send_tags
from grpo_ops.tracking.summary import Summary, summarise


@dataclass(frozen=True, slots=True)
class Closing:
    """An ending that MLflow is to be told. Kept in the run folder until it has been.

    time: when it ended, seconds since the epoch. law: LawFit as JSON, with
    the Forecast as JSON under `forecast`. figure: path of the forecast's picture.
    law_lines: law metrics that have not been sent.
    """

    ending: str
    reason: str
    time: float
    law: Mapping[str, Any] = field(default_factory=dict)
    figure: str | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    law_lines: Sequence[Entry] = ()

    def __post_init__(self) -> None:
        status_of(self.ending)
        object.__setattr__(self, "ending", plain(self.ending))

    def save(self, folder: RunFolder) -> None:
        write_atomically(folder.path / PENDING_FILE, json.dumps(asdict(self)))

    def forget(self, folder: RunFolder) -> None:
        (folder.path / PENDING_FILE).unlink(missing_ok=True)

    @classmethod
    def load(cls, folder: RunFolder) -> Self | None:
        """The closing that waits in `folder`, None where there is none."""
        return read_record(cls, folder, PENDING_FILE)


def close_run(client: MlflowClient, run_id: str, plan: RunPlan, folder: RunFolder, closing: Closing) -> None:
    """Close the run as `closing` says; doing it again changes nothing. Raises Outage or TrackingError."""
    summary = summarise(folder.entries(), plan.max_steps)
    metrics = _final_metrics(summary, closing)
    send_tags(client, run_id, _final_tags(plan, summary, closing, folder))
    with speaking(f"close run {run_id}"):
        client.log_batch(run_id, metrics=metrics)
        client.set_terminated(run_id, status_of(closing.ending), end_time=round(closing.time * 1000))


def _final_metrics(summary: Summary, closing: Closing) -> list[Metric]:
    values = {"steps": float(summary.steps), "seconds": summary.seconds, **closing.metrics}
    if summary.best is not None:
        values["eval_reward_best"] = summary.best.mean
    moment = round((summary.ended or closing.time) * 1000)  # the journal's own time: closing twice logs nothing twice
    return [Metric(clean_name(k), v, moment, summary.steps) for k, v in values.items() if math.isfinite(v)]


def _final_tags(plan: RunPlan, summary: Summary, closing: Closing, folder: RunFolder) -> dict[str, str]:
    return {
        ENDING: closing.ending,
        STOP_REASON: cut(closing.reason, 1000),
        NOTE: run_note(plan, summary, closing.ending, closing.reason, closing.law, folder.path, closing.note),
    }
