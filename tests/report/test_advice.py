"""advice(): (phase, how far, what was found) → the sentence."""

from dataclasses import replace

import pytest

from grpo_ops.curve import RewardCurve
from grpo_ops.law import FitStatus, Phase, forecast
from grpo_ops.law.diagnostics import Finding, Severity, Symptom
from grpo_ops.report.advice import advice

AHEAD = replace(
    forecast(RewardCurve(tuple(range(1, 21)), tuple(step % 3 / 10 + step / 20 for step in range(20)), 40)),
    status=FitStatus.OK,
)


def finding(symptom, severity):
    return Finding(symptom, severity, 5, "evidence.", "cost.", "advice.")


KL = finding(Symptom.KL_GROWTH, Severity.WARNING)
SLOW = finding(Symptom.SLOWDOWN, Severity.INFO)
WRONG = finding(Symptom.ALL_WRONG, Severity.CRITICAL)
COLLAPSE = finding(Symptom.COLLAPSE, Severity.CRITICAL)
FLAT = finding(Symptom.PLATEAU, Severity.WARNING)


@pytest.mark.parametrize(
    ("changes", "findings", "start", "end"),
    [
        ({"phase": Phase.RISE}, [], "Let it run: it is still rising", "rising."),
        ({"phase": Phase.RISE}, [SLOW], "Let it run", "rising."),
        ({"phase": Phase.RISE}, [KL, SLOW], "Let it run", "Look also at what was found: kl growth."),
        ({"phase": Phase.RISE}, [WRONG, KL], "Stop it, or change it now", "does not get well by itself."),
        ({"phase": Phase.PLATEAU}, [FLAT], "It looks flat", "the steps that are left."),
        ({"phase": Phase.DECLINE}, [COLLAPSE], "Stop it, or lower the learning rate", "keep the best checkpoint."),
        ({"phase": Phase.DECLINE}, [COLLAPSE, WRONG], "Stop it, or lower", "found: no signal: all wrong."),
        ({"phase": Phase.NO_SIGNAL}, [], "Nothing can be told", "completions a step."),
        ({"phase": Phase.NO_SIGNAL, "calibration": "siblings", "low": 9.0}, [], "Let it run", "rose from here."),
        ({"step": 40}, [], "The run has ended", "the other runs."),
        ({"step": 40}, [KL], "The run has ended", "Before the next one, look at what was found: kl growth."),
        ({"status": FitStatus.CONSTANT}, [WRONG], "The reward never changes", "tell answers apart."),
    ],
)
def test_advice(changes, findings, start, end):
    said = advice(replace(AHEAD, **changes), findings)
    assert said.startswith(start) and said.endswith(end)
