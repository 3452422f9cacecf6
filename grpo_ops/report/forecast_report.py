"""ForecastReport: a curve, its forecast and fits, and what is to be said about them; text and figure draw on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grpo_ops.curve import RewardCurve
from grpo_ops.law import FitStatus, Forecast, LawFit, Phase, fit, forecast

_EARLY = 0.1


@dataclass(frozen=True, slots=True)
class ForecastReport:
    """All that is said about one curve. name: what people call it. warnings: one sentence each."""

    name: str
    curve: RewardCurve
    forecast: Forecast
    fits: tuple[LawFit, ...]
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        curve: RewardCurve,
        *,
        name: str = "run",
        horizon: int | None = None,
        siblings: Sequence[RewardCurve] = (),
        level: float = 0.8,
        notes: Sequence[str] = (),
    ) -> "ForecastReport":
        """Forecast and fit `curve`; its reader's `notes` come first among the warnings. Raises LawError as forecast."""
        ahead, fitted = forecast(curve, horizon, siblings, level), fit(curve)
        planned = horizon or curve.max_steps
        return cls(name, curve, ahead, (fitted,), (*notes, *_warnings(ahead, fitted, planned)))

    @property
    def advice(self) -> str:
        """What to do next, in one sentence."""
        if self.forecast.status in (FitStatus.TOO_FEW_POINTS, FitStatus.CONSTANT):
            return _WITHOUT_A_FORECAST[self.forecast.status]
        if self.forecast.step >= self.forecast.horizon:
            return "The run has ended; compare its held-out evaluation with those of the other runs."
        return _ADVICE[self.forecast.phase]

    def as_dict(self) -> dict[str, Any]:
        """Everything as JSON can carry it."""
        known = {"name": self.name} | self.forecast.as_dict()
        fits = [one.as_dict() for one in self.fits]
        return known | {"fits": fits, "advice": self.advice, "warnings": list(self.warnings)}


def _warnings(ahead: Forecast, fitted: LawFit, planned: int | None) -> list[str]:
    warnings = []
    if planned is None:
        warnings.append("the planned length is not known: the last step is taken for the end")
    if ahead.calibration == "model-error" and ahead.step < _EARLY * ahead.horizon:
        warnings.append(
            "less than a tenth of the run is done: without finished runs of the study this is little more than a guess"
        )
    if fitted.status is FitStatus.POOR:
        warnings.append(f"the {fitted.law} law fits poorly (R² {fitted.r2_smoothed:.2f} against the smoothed curve)")
    return warnings


_WITHOUT_A_FORECAST = {
    FitStatus.TOO_FEW_POINTS: "Wait for more steps: three points are the least that a forecast can rest on.",
    FitStatus.CONSTANT: "The reward never changes: check that the reward function and the task can tell answers apart.",
}
_ADVICE = {
    Phase.SLOW_START: "Let it run: it has not risen yet, and the forecast expects that it will.",
    Phase.RISE: "Let it run: it is still rising.",
    Phase.PLATEAU: "It looks flat: stop it if what the band still allows is not worth the steps that are left.",
    Phase.DECLINE: "Stop it, or lower the learning rate: it is well below its own best; keep the best checkpoint.",
    Phase.NO_SIGNAL: "Nothing can be told from the noise yet: look at reward_std, and use more completions a step.",
}
