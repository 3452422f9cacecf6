"""Each symptom planted and absent: the right name, and no alarm beside it."""

import json

import numpy as np
import pytest

from grpo_ops.curve import RewardCurve
from grpo_ops.law.diagnostics import CAN_BE_CRITICAL, Finding, Severity, Symptom, diagnose
from tests.law.diagnostics.planted import FLAT_LOW, FLAT_MIDDLE, HEALTHY, RISING, SOLVED, N, T, curve, noise, run

GAP = "sampling__sampling_logp_difference__mean"
HALF = N // 2
LATE = np.arange(N) >= HALF
MOST = np.clip(0.85 + noise(0.04, 20), 0, 1)

PLANTED = {
    "all wrong": (run(FLAT_LOW, frac_reward_zero_std=MOST), Symptom.ALL_WRONG),
    "all correct": (run(SOLVED, frac_reward_zero_std=MOST), Symptom.ALL_CORRECT),
    "identical": (run(FLAT_MIDDLE, frac_reward_zero_std=MOST), Symptom.IDENTICAL),
    "spread gone": (curve(FLAT_LOW, reward_std=np.where(LATE, 0.0, 0.3)), Symptom.ALL_WRONG),
    "reward constant": (curve(np.where(LATE, 0.03, FLAT_LOW)), Symptom.ALL_WRONG),
    "advantages": (run(advantage_std=np.where(LATE, 0.02, 1.0)), Symptom.ADVANTAGE_COLLAPSE),
    "no updates": (run(grad_norm=np.where(LATE, 0.0, 1.0)), Symptom.VANISHING_UPDATES),
    "plateau": (curve(0.2 + 0.4 * (1 - np.exp(-20 * T)) + noise(0.02)), Symptom.PLATEAU),
    "collapse": (curve(np.where(LATE, 0.1, 0.2 + T) + noise(0.02)), Symptom.COLLAPSE),
    "collapse below the start": (curve(np.where(LATE, 0.3, 0.6) + noise(0.03)), Symptom.COLLAPSE),
    "oscillation": (curve(0.5 + 0.3 * np.sin(2 * np.pi * 5 * T) + noise(0.03)), Symptom.OSCILLATION),
    "length hacking": (
        run(completions__mean_length=200 * (1 + 2.5 * T) + noise(5, 6)),
        Symptom.LENGTH_HACKING,
    ),
    "length collapse": (
        run(FLAT_MIDDLE, completions__mean_length=np.where(LATE, 20.0, 200.0) + noise(2, 6)),
        Symptom.LENGTH_COLLAPSE,
    ),
    "truncation": (run(completions__clipped_ratio=np.where(LATE, 0.6, 0.02)), Symptom.TRUNCATION),
    "repetition": (run(repetition_rate=np.where(LATE, 0.5, 0.02)), Symptom.REPETITION),
    "component": (
        run(rewards__format__mean=np.minimum(1, 0.2 + 3 * T), rewards__correct__mean=0.2 + noise(0.01, 3)),
        Symptom.COMPONENT_DOMINANCE,
    ),
    "entropy": (run(FLAT_MIDDLE, entropy=1.2 * np.exp(-7 * T) + 0.001), Symptom.ENTROPY_COLLAPSE),
    "kl": (run(FLAT_MIDDLE, kl=0.01 * np.exp(6 * T)), Symptom.KL_GROWTH),
    "kl in one place": (
        run(**{f"kl_positional__{i}": 0.05 + (0.5 * T if i == 0 else 0 * T) for i in range(6)}),
        Symptom.KL_CONCENTRATION,
    ),
    "clipping": (run(clip_ratio__region_mean=np.where(LATE, 0.45, 0.03)), Symptom.CLIP_SATURATION),
    "spikes": (run(grad_norm=np.where(np.arange(N) % 40 == 30, 60.0, 1.0)), Symptom.UNSTABLE_STEP_SIZE),
    "infinite": (run(grad_norm=np.where(np.arange(N) == 150, np.inf, 1.0)), Symptom.NOT_FINITE),
    "gone silent": (run(grad_norm=np.where(np.arange(N) >= 150, np.nan, 1.0)), Symptom.NOT_FINITE),
    "counted": (run(nan_count=np.where(np.arange(N) == 150, 2.0, 0.0)), Symptom.NOT_FINITE),
    "no gradient of the loss": (run(FLAT_MIDDLE, loss=0.1 + noise(0.01, 3), grad_norm=0 * T), Symptom.ZERO_GRADIENT),
    "old weights": (run(FLAT_MIDDLE, **{GAP: 0.004 + 0.1 * T + noise(0.001, 3)}), Symptom.STALE_ROLLOUTS),
    "value head": (run(value_explained_variance=0.5 - 1.0 * T), Symptom.VALUE_DIVERGENCE),
    "slow": (run(step_time=10 * (1 + T) + noise(0.2)), Symptom.SLOWDOWN),
    "few completions": (curve(0.5 + noise(0.2), reward_std=0.5 + 0 * T), Symptom.TOO_FEW_COMPLETIONS),
}


@pytest.mark.parametrize("name", PLANTED)
def test_names_what_was_planted(name):
    planted, symptom = PLANTED[name]
    findings = diagnose(planted)
    assert symptom in {finding.symptom for finding in findings}
    alarms = {finding.symptom for finding in findings if finding.severity is not Severity.INFO}
    assert alarms <= {symptom}


CRITICAL = {
    "all wrong": curve(0 * T, frac_reward_zero_std=1 + 0 * T),
    "identical": curve(FLAT_MIDDLE, frac_reward_zero_std=0.95 + 0 * T),
    "loss without gradient": PLANTED["no gradient of the loss"][0],
    "collapse": PLANTED["collapse"][0],
    "held-out score falls": run(eval_reward=np.where(np.arange(N) % 10 == 0, 0.5 - 0.4 * T, np.nan)),
    "entropy": PLANTED["entropy"][0],
    "a tenth of the length": run(FLAT_MIDDLE, completions__mean_length=np.where(LATE, 15.0, 200.0)),
    "nearly all truncated while it rises": run(completions__clipped_ratio=np.where(LATE, 0.95, 0.02)),
    "kl": PLANTED["kl"][0],
    "half of the tokens clipped": run(clip_ratio__region_mean=np.where(LATE, 0.6, 0.03)),
    "spikes": run(grad_norm=np.where(np.arange(N) % 20 == 10, 60.0, 1.0)),
    "infinite": PLANTED["infinite"][0],
    "old weights": PLANTED["old weights"][0],
}


def test_what_can_be_critical_is_all_that_ever_is():
    shown = [*CRITICAL.values(), *(planted for planted, _ in PLANTED.values())]
    found = {one.symptom for run in shown for one in diagnose(run) if one.severity is Severity.CRITICAL}
    assert found == CAN_BE_CRITICAL


@pytest.mark.parametrize(
    "healthy",
    [
        run(),
        curve(RISING),
        curve(FLAT_MIDDLE),
        curve(-3 + 40 * RISING),
        run(0.2 + 0.6 / (1 + np.exp(-12 * (T - 0.6))) + noise(0.03)),
    ],
    ids=["all metrics", "reward alone", "flat", "another scale", "slow start"],
)
def test_a_healthy_run_raises_no_alarm(healthy):
    assert [finding for finding in diagnose(healthy) if finding.severity is not Severity.INFO] == []


@pytest.mark.parametrize("name", ["collapse", "oscillation", "plateau", "few completions", "length hacking", "kl"])
@pytest.mark.parametrize(("scale", "shift"), [(10, 0), (1, -5), (0.01, 3)])
def test_symptoms_do_not_depend_on_the_scale_of_the_reward(name, scale, shift):
    planted, symptom = PLANTED[name]
    metrics = dict(planted.metrics)
    if "reward_std" in metrics:
        metrics["reward_std"] = tuple(scale * value for value in metrics["reward_std"])
    moved = RewardCurve(planted.steps, tuple(scale * r + shift for r in planted.rewards), None, metrics)
    assert symptom in {finding.symptom for finding in diagnose(moved)}


@pytest.mark.parametrize("shown", [0, 1, 7])
def test_too_short_a_curve_says_nothing(shown):
    assert diagnose(PLANTED["all wrong"][0].head(shown)) == ()


def test_the_worst_comes_first_and_then_the_earliest():
    found = diagnose(
        run(FLAT_LOW, frac_reward_zero_std=0.95 + 0 * T, completions__clipped_ratio=np.where(LATE, 0.3, 0))
    )
    assert [finding.symptom for finding in found] == [Symptom.ALL_WRONG, Symptom.TRUNCATION]
    assert [finding.severity for finding in found] == [Severity.CRITICAL, Severity.WARNING]


def test_a_finding_is_dated_and_priced():
    (found,) = diagnose(PLANTED["collapse"][0])
    assert abs(found.since_step - HALF) <= 15
    assert found.cost_steps == N - found.since_step + 1
    assert found.cost_reward == pytest.approx(0.55, abs=0.1)
    assert f"{found.cost_steps} of {N} steps" in found.cost


def test_every_finding_is_json_and_in_sentences():
    for planted, _ in PLANTED.values():
        for finding in diagnose(planted):
            document = json.loads(json.dumps(finding.as_dict(), allow_nan=False))
            assert Finding.of({"kind": "diagnosis", "step": 9, **document}) == finding
            assert finding.evidence.endswith(".") and finding.cost.endswith(".") and finding.advice.endswith(".")


def test_a_recovered_run_is_not_collapsed():
    dip = np.where((T > 0.4) & (T < 0.5), 0.1, 0.0)
    assert Symptom.COLLAPSE not in {finding.symptom for finding in diagnose(curve(RISING - dip))}


def test_every_symptom_has_a_planted_curve_or_a_test_of_its_own():
    elsewhere = {Symptom.REWARD_HACKING}
    assert {symptom for _, symptom in PLANTED.values()} | elsewhere == set(Symptom)


def test_healthy_metrics_cover_what_trl_logs():
    assert {"entropy", "kl", "grad_norm", "reward_std", "frac_reward_zero_std"} <= set(HEALTHY)
