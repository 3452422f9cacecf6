"""A run's description in MLflow: what happened, in words and one table (markdown)."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from grpo_ops.curve import Evaluation
from grpo_ops.tracking.datasets import dataset_name
from grpo_ops.tracking.names import TAG_LENGTH, cut
from grpo_ops.tracking.plan import RunPlan
from grpo_ops.tracking.summary import Summary

_LAST_POINTS = 10


def run_note(
    plan: RunPlan, summary: Summary, ending: str, reason: str, law: Mapping[str, Any], folder: Path, more: str
) -> str:
    """Markdown for `mlflow.note.content`."""
    allowed = f" of {summary.max_steps}" if summary.max_steps else ""
    head = f"**{ending}** after {summary.steps}{allowed} steps ({duration(summary.seconds)}): {reason}"
    rows = "\n".join(f"| {name} | {value} |" for name, value in _rows(plan, summary, law, folder))
    return cut("\n\n".join(part for part in (head, f"| | |\n|---|---|\n{rows}", more) if part), TAG_LENGTH)


def duration(seconds: float) -> str:
    """`95` as `1 min 35 s`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def score(evaluation: Evaluation) -> str:
    """`0.620 ± 0.031 (128 prompts)`."""
    error = evaluation.standard_error
    margin = f" ± {error:.3f}" if math.isfinite(error) else ""
    return f"{evaluation.mean:.3f}{margin} ({len(evaluation.scored)} prompts)"


def _rows(plan: RunPlan, summary: Summary, law: Mapping[str, Any], folder: Path) -> Iterator[tuple[str, str]]:
    if summary.baseline is not None:
        yield "evaluation before training", score(summary.baseline)
    if summary.best is not None:
        yield f"best evaluation, step {summary.best.step}", score(summary.best)
    if len(summary.curve):
        last = summary.curve.rewards[-_LAST_POINTS:]
        yield f"training reward, last {len(last)} steps", f"{math.fsum(last) / len(last):.3f}"
    for finding in summary.diagnoses:
        yield f"diagnosis ({finding.severity})", _cell(finding.sentence)
    if law.get("law"):
        yield "law", _cell(law_words(law))
    if law.get("forecast"):
        yield "forecast", _cell(forecast_words(law["forecast"]))
    yield "model", _cell(str(plan.spec["model"]["id"]))
    yield "task", _cell(dataset_name(plan.spec["task"]))
    yield "folder", _cell(str(folder))


def law_words(law: Mapping[str, Any]) -> str:
    """`exponential (ok): initial 0.31, gain 0.42; R² 0.931, noise 0.021` from a LawFit as JSON."""
    params = ", ".join(f"{name} {_short(value)}" for name, value in law["params"].items())
    quality = f"R² {_short(law['r2'])}, noise {_short(law['noise'])}"
    return f"{law['law']} ({law['status']})" + (f": {params}; {quality}" if params else "")


def forecast_words(forecast: Mapping[str, Any]) -> str:
    """`0.640 (0.601 to 0.679) at step 150, said at step 60` from a Forecast as JSON."""
    band = f" ({_short(forecast['low'])} to {_short(forecast['high'])})" if forecast["low"] is not None else ""
    return f"{_short(forecast['mean'])}{band} at step {forecast['horizon']}, said at step {forecast['step']}"


def _short(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
