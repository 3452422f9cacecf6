"""ForecastReport: a curve, its forecast, fits and findings, and what to say of them; text and pictures draw on it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from grpo_ops.curve import RewardCurve
from grpo_ops.law import FitStatus, Forecast, LawFit, fit_all, forecast
from grpo_ops.law.diagnostics import Finding, diagnose
from grpo_ops.law.hyperparameters import Params
from grpo_ops.report.advice import advice
from grpo_ops.report.siblings import Siblings

_EARLY = 0.1


@dataclass(frozen=True, eq=False)
class ForecastReport:
    """All that is said about one curve.

    name: what people call it. siblings: finished runs of its study. diagnostics: what is wrong with it, the worst
    first. notes: its reader's, one sentence each. is_planned: whether its last step is known.
    """

    name: str
    curve: RewardCurve
    forecast: Forecast
    siblings: Siblings = field(default_factory=Siblings)
    diagnostics: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    is_planned: bool = True

    @classmethod
    def of(
        cls,
        curve: RewardCurve,
        *,
        name: str = "run",
        horizon: int | None = None,
        siblings: Siblings | Sequence[RewardCurve] = (),
        params: Params | None = None,
        level: float = 0.8,
        notes: Sequence[str] = (),
        evaluations: RewardCurve | None = None,
    ) -> "ForecastReport":
        """Forecast and diagnose `curve`. params: its hyperparameters. evaluations: its held-out scores over steps.

        Raises LawError as forecast().
        """
        others = siblings if isinstance(siblings, Siblings) else Siblings.of(siblings)
        ahead = forecast(curve, horizon, others.pool, level, params=params)
        found = diagnose(curve, evaluations, ahead.horizon)
        return cls(name, curve, ahead, others, found, tuple(notes), bool(horizon or curve.max_steps))

    @cached_property
    def fits(self) -> tuple[LawFit, ...]:
        """Every law, the best first by AICc. Made on first use: they take far longer than all the rest."""
        return fit_all(replace(self.curve, max_steps=self.forecast.horizon) if len(self.curve) else self.curve)

    @property
    def advice(self) -> str:
        """What to do next, in one sentence."""
        return advice(self.forecast, self.diagnostics)

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence each, the reader's first, that of a poor fit last."""
        best = self.fits[0]
        poor = f"no law fits well: the best, {best.law}, has R² {best.r2_smoothed:.2f} against the smoothed curve"
        return (*self.cautions, *([poor] if best.status is FitStatus.POOR else []))

    @property
    def cautions(self) -> tuple[str, ...]:
        """The warnings that need no fit."""
        return (*self.notes, *_cautions(self))

    def as_dict(self) -> dict[str, Any]:
        """Everything as JSON can carry it."""
        return {
            "name": self.name,
            **self.forecast.as_dict(),
            "siblings": len(self.siblings),
            "fits": [one.as_dict() for one in self.fits],
            "diagnostics": [finding.as_dict() for finding in self.diagnostics],
            "advice": self.advice,
            "warnings": list(self.warnings),
        }


def _cautions(report: ForecastReport) -> list[str]:
    ahead, siblings, said = report.forecast, report.siblings, []
    if not report.is_planned:
        said.append("the planned length is not known: the last step is taken for the end")
    if siblings.left_out:
        said.append(f"siblings left out because they have not finished: {siblings.left_out}")
    if len(siblings) and ahead.calibration != "siblings" and ahead.step < ahead.horizon:
        said.append(f"the siblings do not set the band: {_why_not(siblings)}")
    if ahead.calibration == "model-error" and ahead.step < _EARLY * ahead.horizon:
        said.append(
            "less than a tenth of the run is done: without finished runs of the study this is little more than a guess"
        )
    return said


def _why_not(siblings: Siblings) -> str:
    return "one has finished, and two are the least" if len(siblings) == 1 else "they ended before this run's last step"
