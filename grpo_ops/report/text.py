"""A forecast in words: where the run will end, how sure that is, which phase it is in, what to do."""

import math

from grpo_ops.law import Forecast, LawFit
from grpo_ops.report.forecast_report import ForecastReport
from grpo_ops.report.sparkline import cell_means, scale_of, sparkline

_WIDTH = 56
_LEAST = 6
_RESTS_ON = {
    "siblings": "how finished runs of the study ended",
    "model-error": "the law alone, widened for its known errors",
    "none": "nothing yet",
}


def forecast_text(report: ForecastReport, *, plain: bool = False) -> str:
    """A few lines for a terminal. plain: ASCII bars, for terminals without Unicode."""
    ahead = report.forecast
    lines = [f"{report.name}: step {ahead.step} of {ahead.horizon}", *_picture(report, plain), _outcome(ahead)]
    if not math.isnan(ahead.sd):
        lines.append(f"  band      rests on {_RESTS_ON[ahead.calibration]}")
        lines.append(f"  phase     {ahead.phase.value}{_onset(ahead)}")
    lines += [f"  law       {_law(fit)}" for fit in report.fits]
    lines.append(f"  advice    {report.advice}")
    return "\n".join([*lines, *(f"  note      {warning}" for warning in report.warnings)])


def _outcome(ahead: Forecast) -> str:
    if math.isnan(ahead.sd):
        return f"  forecast  none: {ahead.status.value}"
    band = f"{ahead.low:.3g} to {ahead.high:.3g} with {100 * ahead.level:g} % probability"
    return f"  forecast  {ahead.mean:.3g} at step {ahead.horizon} ({band}); now {ahead.last_value:.3g}"


def _onset(ahead: Forecast) -> str:
    if ahead.plateau_step is None:
        return ""
    return f"; 95 % of the gain is reached at step {ahead.plateau_step}"


def _law(fit: LawFit) -> str:
    if not fit.params:
        return f"{fit.law}: {fit.status.value}"
    numbers = ", ".join(f"{name} {value:.3g}" for name, value in fit.params.items())
    return f"{fit.law}: {numbers} ({fit.status.value}, R² {fit.r2:.2f}, smoothed {fit.r2_smoothed:.2f})"


def _picture(report: ForecastReport, plain: bool) -> list[str]:
    """The curve, then behind a bar the forecast's path, with its band above and below, all on one scale."""
    rewards, path, ahead = report.curve.rewards, report.forecast.path, report.forecast
    if len(path) < 2:
        return [f"  {sparkline(rewards, _WIDTH, plain=plain)}"] if rewards else []
    past = max(_LEAST, min(_WIDTH - _LEAST, round(_WIDTH * ahead.step / ahead.horizon)))
    bands = [[getattr(point, which) for point in path] for which in ("high", "mean", "low")]
    scale = scale_of([*cell_means(rewards, past), *bands[0], *bands[2]])
    history = sparkline(rewards, past, scale, plain=plain)
    high, mean, low = (sparkline(band, _WIDTH - past, scale, plain=plain) for band in bands)
    blank = " " * len(history)
    return [f"  {blank}|{high}", f"  {history}|{mean}", f"  {blank}|{low}"]
