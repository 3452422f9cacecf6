"""A forecast in words: where the run will end, how sure that is, which phase it is in, what is wrong, what to do."""

import math
import textwrap
from collections.abc import Iterator

from grpo_ops.law import FitStatus, Forecast, LawFit, Phase, PhaseSpan
from grpo_ops.law.diagnostics import Finding
from grpo_ops.report.forecast_report import ForecastReport
from grpo_ops.report.sparkline import cell_means, scale_of, sparkline

_WIDTH = 56
_LEAST = 6
_MARGIN = 12
_WORTH_A_LINE = 0.05
_TIE = 4.0


def forecast_text(report: ForecastReport, *, plain: bool = False, width: int | None = None) -> str:
    """A few lines for a terminal. plain: ASCII bars, for terminals without Unicode. width: wrap what is longer."""
    ahead = report.forecast
    head = [f"{report.name}: step {ahead.step} of {ahead.horizon}", *_picture(report, plain)]
    return "\n".join([*head, *(_line(label, text, width) for label, text in _said(report))])


def _said(report: ForecastReport) -> Iterator[tuple[str, str]]:
    """Each line's label and text; a line without a label belongs to the one before."""
    ahead = report.forecast
    yield from _outcome(report)
    if ahead.phases and not math.isnan(ahead.sd):
        yield "phase", _phase(ahead.phases)
    if ahead.plateau_step is not None:
        yield "plateau", f"95 % of the gain is reached at about step {ahead.plateau_step}{_onset_band(ahead)}"
    if ahead.collapse_chance > _WORTH_A_LINE:
        yield (
            "collapse",
            f"{100 * ahead.collapse_chance:.0f} % chance that it ends more than half of its gain below its best",
        )
    yield "law", _law(report.fits)
    for finding in report.diagnostics:
        yield from _finding(finding)
    yield "advice", report.advice
    yield from (("note", warning) for warning in report.warnings)


def _line(label: str, text: str, width: int | None) -> str:
    first = f"  {label:<{_MARGIN - 2}}"
    if width is None:
        return first + text
    room = max(width, 2 * _MARGIN)
    return textwrap.fill(text, room, initial_indent=first, subsequent_indent=" " * _MARGIN, break_on_hyphens=False)


def _outcome(report: ForecastReport) -> Iterator[tuple[str, str]]:
    ahead = report.forecast
    if math.isnan(ahead.sd):
        yield "forecast", f"none: {ahead.status.value}"
        return
    sure = f"{100 * ahead.level:g} % probability"
    band = f"{ahead.low:.3g} to {ahead.high:.3g} with {sure}"
    yield "forecast", f"{ahead.mean:.3g} at step {ahead.horizon} ({band}); now {ahead.last_value:.3g}"
    if ahead.step < ahead.horizon:
        yield "next", f"{ahead.next_mean:.3g} at the next logged step ({ahead.next_low:.3g} to {ahead.next_high:.3g})"
    yield "band", f"rests on {_rests_on(report)}"


def _rests_on(report: ForecastReport) -> str:
    if report.forecast.calibration == "siblings":
        return f"how {len(report.siblings)} finished runs of the study ended"
    if report.forecast.step >= report.forecast.horizon:
        return "the last steps and their noise"
    return "how wrong such forecasts were on recorded runs"


def _phase(spans: tuple[PhaseSpan, ...]) -> str:
    """The current phase, how sure it is, and those before it."""
    *before, now = spans
    history = ", ".join(f"{span.phase.value} from {span.start}" for span in before)
    return f"{now.phase.value} since step {now.start}{_confidence(now)}" + (f"; before: {history}" if history else "")


def _confidence(span: PhaseSpan) -> str:
    if span.phase is Phase.SLOW_START:
        return " (the rise is expected, not yet seen)"
    percent = f"{100 * span.confidence:.0f} %"
    if span.phase is Phase.NO_SIGNAL:
        return f" (noise alone shows as much in {percent} of such curves)"
    return f" (confidence {percent})"


def _onset_band(ahead: Forecast) -> str:
    if ahead.plateau_low is None:
        return ""
    late = "after the end" if ahead.plateau_high is None else str(ahead.plateau_high)
    return f" ({ahead.plateau_low} to {late})"


def _law(fits: tuple[LawFit, ...]) -> str:
    best = fits[0]
    if not best.params:
        return f"none fits: {best.status.value}"
    numbers = ", ".join(f"{name} {value:.3g}" for name, value in best.params.items())
    quality = f"R² {best.r2:.2f}, smoothed {best.r2_smoothed:.2f}"
    poor = ", poor" if best.status is FitStatus.POOR else ""
    return f"{best.law}: {numbers} ({quality}{poor}){_rivals(fits)}"


def _rivals(fits: tuple[LawFit, ...]) -> str:
    """The laws whose AICc is too near to that of the best for a decision."""
    near = [one.law for one in fits[1:] if one.params and one.aicc - fits[0].aicc < _TIE]
    return f"; as good: {', '.join(near)}" if near else ""


def _finding(finding: Finding) -> Iterator[tuple[str, str]]:
    yield finding.severity.value, f"{finding.symptom.value}, since step {finding.since_step}"
    yield "", finding.evidence
    yield "", f"Cost: {finding.cost}"
    yield "", f"Try: {finding.advice}"


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
