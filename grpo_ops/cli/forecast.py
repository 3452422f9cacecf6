"""`grpo-ops forecast CURVE`: a file, a run folder, or an MLflow run."""

import json
from pathlib import Path

from grpo_ops.cli.failures import needs
from grpo_ops.curve import RewardCurve
from grpo_ops.errors import CurveError
from grpo_ops.home import Home, make_quiet

_FILES = (".csv", ".tsv", ".parquet", ".json", ".jsonl")


def forecast_command(
    source: str, horizon: int | None, upto: float | None, level: float, plot: Path | None, as_json: bool
) -> int:
    """Forecast one curve; print text or JSON, and draw it where asked."""
    from grpo_ops.report import ForecastReport, forecast_figure, forecast_text, save_png

    curve, name, notes = curve_of(source)
    if upto is not None:
        curve, horizon = _first_share(curve, upto, horizon)
    _refuse_past(curve, horizon)
    report = ForecastReport.of(curve, name=name, horizon=horizon, level=level, notes=notes)
    if plot is not None:
        save_png(forecast_figure(report), plot)
    print(json.dumps(report.as_dict(), indent=1) if as_json else forecast_text(report))
    return 0


def curve_of(source: str) -> tuple[RewardCurve, str, tuple[str, ...]]:
    """The curve that `source` names, its name, and what a reader should know of it."""
    if not source.strip():
        raise CurveError("CURVE is empty: name a file, a run folder, an MLflow run id or a run key")
    if Path(source).exists():
        from grpo_ops.reading import read_curve

        reading = read_curve(Path(source))
        return reading.curve, Path(source).name, reading.notes
    if "/" in source or source.lower().endswith(_FILES):
        raise CurveError(f"there is no file {source}")
    return _tracked(source)


def _tracked(run: str) -> tuple[RewardCurve, str, tuple[str, ...]]:
    home = Home.here()
    if not home.has_tracking:
        raise CurveError(f"there is no file {run}, and no run of that name: nothing is tracked in {home.root} yet")
    needs("track", "mlflow")
    make_quiet()
    from grpo_ops.tracking import curve_of_run

    found = curve_of_run(run, home.tracking_uri)
    return found.curve, found.name, found.notes


def _first_share(curve: RewardCurve, upto: float, horizon: int | None) -> tuple[RewardCurve, int]:
    if not 0 < upto <= 1:
        raise CurveError(f"--upto is a share of the curve, above 0 and at most 1, but got {upto:g}")
    last = horizon or curve.max_steps or (curve.steps[-1] if len(curve) else 1)
    return curve.upto(round(upto * last)), last


def _refuse_past(curve: RewardCurve, horizon: int | None) -> None:
    last = curve.steps[-1] if len(curve) else 1
    if horizon is not None and horizon < last:
        raise CurveError(
            f"--horizon {horizon} is before the curve's last step {last}; give a later step, or --upto SHARE as well "
            "to use the first part of the curve only"
        )
