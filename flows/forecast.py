"""grpo-forecast: where a run will end, as a markdown artifact."""

from typing import Any

from prefect import flow
from prefect.artifacts import create_markdown_artifact

from grpo_ops.home import Home
from grpo_ops.report import ForecastReport, forecast_text
from grpo_ops.tracking import curve_of_run


@flow(name="grpo-forecast", log_prints=True)
def grpo_forecast(run: str, horizon: int | None = None, level: float = 0.8) -> dict[str, Any]:
    """Forecast the reward of the MLflow run with this id or run_key."""
    found = curve_of_run(run, Home.here().tracking_uri)
    report = ForecastReport.of(found.curve, name=found.name, horizon=horizon, level=level, notes=found.notes)
    text = forecast_text(report)
    create_markdown_artifact(markdown=f"```\n{text}\n```", key="grpo-forecast", description=found.name)
    print(text)
    return report.as_dict()
