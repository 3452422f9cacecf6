"""What is done with a run that is over: its picture, its law, its files and its true status in MLflow."""

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from grpo_ops.curve import RewardCurve
from grpo_ops.journal import RunFolder, write_atomically
from grpo_ops.supervise import RunResult
from grpo_ops.sweep.watch import Watch
from grpo_ops.tracking import Upload

#: In the run folder: the last attempt whose ending MLflow has been told, or that waits for `reconcile`.
CLOSED_FILE = "closed.json"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Picture:
    """What the picture of a run that is over shows. decision_step: where the judge stopped it, None if nobody did."""

    curve: RewardCurve
    title: str
    ending: str
    decision_step: int | None


class Draw(Protocol):
    """Draws a picture into a PNG file; the report room has one."""

    def __call__(self, picture: Picture, path: Path) -> None: ...


def close_watch(watch: Watch, result: RunResult, folder: RunFolder, draw: Draw | None) -> Upload | None:
    """Close the run in MLflow and start the upload of its files; None where MLflow is away (reconcile does it)."""
    watch.conclude(result)
    metrics = {"steps": float(result.step), "seconds": result.seconds}
    if watch.row.evaluation is not None:
        metrics["eval_reward_best"] = watch.row.evaluation
    if watch.row.measured:
        metrics["measured_completions"] = float(watch.row.measured)
    upload = watch.tracker.close(
        result.ending.value,
        watch.row.reason,
        law=result.fit.as_dict(),
        forecast=watch.forecast.as_dict() if watch.forecast else None,
        figure=_drawn(watch, result, folder, draw),
        metrics=metrics,
        note=watch.decision.sentence if watch.decision and watch.decision.stop else "",
    )
    _note_closed(folder, result.attempt, watch.tracker.run_id)
    return upload


def closed_run(folder: RunFolder, attempt: int) -> tuple[bool, str | None]:
    """Whether this attempt has been closed (in MLflow, or left for reconcile), and its MLflow run id."""
    closed = folder.read_json(folder.path / CLOSED_FILE) or {}
    return closed.get("attempt") == attempt, closed.get("mlflow_run_id")


def _note_closed(folder: RunFolder, attempt: int, run_id: str | None) -> None:
    try:
        write_atomically(folder.path / CLOSED_FILE, json.dumps({"attempt": attempt, "mlflow_run_id": run_id}))
    except OSError as error:  # a full disk: it is closed once more later, which changes nothing
        _log.error("run %s is closed, but its folder cannot say so: %s", folder.key, error)


def _drawn(watch: Watch, result: RunResult, folder: RunFolder, draw: Draw | None) -> Path | None:
    """Path of the picture in the run folder; None for a run without points."""
    curve = watch.view().judged(watch.rule)
    if draw is None or len(curve) < 2:
        return None
    judged_by = "held-out evaluation" if watch.rule.metric == "eval_reward" else "training reward"
    stopped = watch.decision is not None and watch.decision.stop
    path = folder.path / "forecast.png"
    try:
        draw(Picture(curve, f"{result.key}, {judged_by}", result.ending.value, result.step if stopped else None), path)
    except OSError as error:  # a full disk must not keep the run from being closed
        _log.error("the picture of run %s cannot be drawn into %s: %s", result.key, path, error)
        return None
    return path
