"""What is done with a run that is over: its picture, its law, its files and its true status in MLflow."""

from pathlib import Path

from grpo_ops.journal import RunFolder
from grpo_ops.report import ForecastReport, forecast_figure, save_png
from grpo_ops.supervise import RunResult
from grpo_ops.sweep.watch import Watch
from grpo_ops.tracking import Upload


def close_watch(watch: Watch, result: RunResult, folder: RunFolder) -> Upload | None:
    """Close the run in MLflow and start the upload of its files; None where MLflow is away (reconcile does it)."""
    watch.conclude(result)
    metrics = {"steps": float(result.step), "seconds": result.seconds}
    if watch.row.evaluation is not None:
        metrics["eval_reward_best"] = watch.row.evaluation
    return watch.tracker.close(
        result.ending.value,
        watch.row.reason,
        law=result.fit.as_dict(),
        forecast=watch.forecast.as_dict() if watch.forecast else None,
        figure=draw(watch, result, folder),
        metrics=metrics,
        note=watch.decision.sentence if watch.decision and watch.decision.stop else "",
    )


def draw(watch: Watch, result: RunResult, folder: RunFolder) -> Path | None:
    """The picture of the judged curve with its forecast, in the run folder; None for a run without points."""
    curve = watch.view().judged(watch.rule)
    if len(curve) < 2:
        return None
    judged_by = "held-out evaluation" if watch.rule.metric == "eval_reward" else "training reward"
    report = ForecastReport.of(curve, name=f"{result.key}, {judged_by}")
    stopped = watch.decision is not None and watch.decision.stop
    figure = forecast_figure(report, decision_step=result.step if stopped else None, decision=result.ending.value)
    return save_png(figure, folder.path / "forecast.png")
