"""What to do next, in one sentence that fits the forecast, the phase and what was found wrong."""

from collections.abc import Sequence

from grpo_ops.law import FitStatus, Forecast, Phase
from grpo_ops.law.diagnostics import Finding, Severity, Symptom

# Findings that say no more than the phase itself does.
_SAME_AS_PHASE = {Phase.PLATEAU: Symptom.PLATEAU, Phase.DECLINE: Symptom.COLLAPSE}
_WITHOUT_A_FORECAST = {
    FitStatus.TOO_FEW_POINTS: "Wait for more steps: three points are the least that a forecast can rest on.",
    FitStatus.CONSTANT: "The reward never changes: check that the reward function and the task can tell answers apart.",
}
_STUDY_ROSE = "Let it run: its own curve does not show it yet, but finished runs of the study rose from here."
_BY_PHASE = {
    Phase.SLOW_START: "Let it run: it has not risen yet, and the forecast expects that it will.",
    Phase.RISE: "Let it run: it is still rising.",
    Phase.PLATEAU: "It looks flat: stop it if what the band still allows is not worth the steps that are left.",
    Phase.DECLINE: "Stop it, or lower the learning rate: it is well below its own best; keep the best checkpoint.",
    Phase.NO_SIGNAL: "Nothing can be told from the noise yet: look at reward_std, and use more completions a step.",
}


def advice(ahead: Forecast, findings: Sequence[Finding] = ()) -> str:
    """The one thing to do; findings come the worst first."""
    if ahead.status in (FitStatus.TOO_FEW_POINTS, FitStatus.CONSTANT):
        return _WITHOUT_A_FORECAST[ahead.status]
    told = [one for one in findings if one.symptom is not _SAME_AS_PHASE.get(ahead.phase)]
    if ahead.step >= ahead.horizon:
        return f"The run has ended; compare its held-out evaluation with those of the other runs.{_next_time(told)}"
    if told and told[0].severity is Severity.CRITICAL and ahead.phase is not Phase.DECLINE:
        return f"Stop it, or change it now: what was found ({told[0].symptom.value}) does not get well by itself."
    return f"{_for_phase(ahead)}{_meanwhile(told)}"


def _for_phase(ahead: Forecast) -> str:
    if ahead.phase is Phase.NO_SIGNAL and ahead.calibration == "siblings" and ahead.low > ahead.last_value:
        return _STUDY_ROSE
    return _BY_PHASE[ahead.phase]


def _meanwhile(told: Sequence[Finding]) -> str:
    names = _names(told)
    return f" Look also at what was found: {names}." if names else ""


def _next_time(told: Sequence[Finding]) -> str:
    names = _names(told)
    return f" Before the next one, look at what was found: {names}." if names else ""


def _names(told: Sequence[Finding]) -> str:
    """The symptoms that are more than worth knowing."""
    return "; ".join(one.symptom.value for one in told if one.severity is not Severity.INFO)
