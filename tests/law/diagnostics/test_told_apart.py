"""What looks alike and is not: all correct and all wrong, earned and bought length, entropy that matters and not."""

import numpy as np
import pytest

from grpo_ops.law.diagnostics import Severity, Symptom, diagnose
from tests.law.diagnostics.planted import FLAT_LOW, FLAT_MIDDLE, RISING, SOLVED, N, T, curve, evaluations, noise, run

MOST = 0.85 + 0 * T
LONGER = 200 * (1 + 2.5 * T) + noise(5, 6)


def found(*arguments, **settings):
    return {finding.symptom: finding for finding in diagnose(*arguments, **settings)}


def test_all_correct_and_all_wrong_get_opposite_advice():
    right = found(run(SOLVED, frac_reward_zero_std=MOST))[Symptom.ALL_CORRECT]
    wrong = found(run(FLAT_LOW, frac_reward_zero_std=MOST))[Symptom.ALL_WRONG]
    assert "harder" in right.advice and "easier" in wrong.advice


@pytest.mark.parametrize(
    ("level", "symptom"),
    [(0.02, Symptom.ALL_WRONG), (0.5, Symptom.IDENTICAL), (0.79, Symptom.ALL_CORRECT), (0.97, Symptom.ALL_CORRECT)],
)
def test_the_level_of_the_reward_tells_which(level, symptom):
    assert symptom in found(curve(np.clip(level + noise(0.01), 0, 1), frac_reward_zero_std=0.8 + 0 * T))


@pytest.mark.parametrize(
    ("rewards", "symptom"), [(-5 + 10 * SOLVED, Symptom.ALL_CORRECT), (2 - 10 * SOLVED, Symptom.ALL_WRONG)]
)
def test_on_another_scale_the_runs_own_range_tells(rewards, symptom):
    assert symptom in found(curve(rewards, frac_reward_zero_std=MOST))


def test_groups_that_were_all_correct_do_not_date_the_all_wrong():
    fallen = np.clip(np.where(T < 0.5, 0.95, 0.01) + noise(0.01), 0, 1)
    assert abs(found(curve(fallen, frac_reward_zero_std=MOST))[Symptom.ALL_WRONG].since_step - N // 2) <= 10


def test_all_wrong_but_rising_is_a_note():
    rising = np.clip(0.02 + 0.15 * T + noise(0.01), 0, 1)
    assert found(curve(rising, frac_reward_zero_std=MOST))[Symptom.ALL_WRONG].severity is Severity.INFO


@pytest.mark.parametrize(
    ("scores", "severity"),
    [
        ([0.2, 0.2, 0.21, 0.2, 0.19, 0.2, 0.21, 0.2, 0.2, 0.21], Severity.WARNING),
        ([0.2, 0.3, 0.4, 0.41, 0.4, 0.35, 0.3, 0.26, 0.22, 0.2], Severity.CRITICAL),
        ([0.2, 0.4, 0.35, 0.2], Severity.INFO),
    ],
    ids=["left behind", "falls", "few scores are a hint"],
)
def test_training_rises_and_held_out_does_not(scores, severity):
    assert found(run(), evaluations(scores))[Symptom.REWARD_HACKING].severity is severity


@pytest.mark.parametrize(
    ("rewards", "scores"),
    [(RISING, 0.2 + 0.4 * np.arange(1, 11) / 10), (FLAT_MIDDLE, [0.3] * 10), (SOLVED, [0.9, 0.95, *[0.97] * 8])],
    ids=["both rise", "neither rises", "both have arrived"],
)
def test_no_hacking_where_the_two_agree(rewards, scores):
    assert Symptom.REWARD_HACKING not in found(curve(rewards), evaluations(scores))


def test_evaluations_among_the_metrics_count():
    scores = np.where(np.arange(N) % 20 == 0, 0.2, np.nan)
    assert Symptom.REWARD_HACKING in found(run(eval_reward=scores + noise(0.005, 3)))


def test_longer_answers_that_held_out_scores_confirm_are_earned():
    longer = run(completions__mean_length=LONGER)
    assert found(longer)[Symptom.LENGTH_HACKING].severity is Severity.WARNING
    assert Symptom.LENGTH_HACKING not in found(longer, evaluations(0.2 + 0.4 * np.arange(1, 11) / 10))


@pytest.mark.parametrize(
    ("rewards", "matters"), [(FLAT_MIDDLE, True), (SOLVED, False)], ids=["below the top", "at the top"]
)
def test_entropy_gone_matters_below_the_top(rewards, matters):
    fading = run(rewards, entropy=1.2 * np.exp(-7 * T) + 0.001)
    assert (Symptom.ENTROPY_COLLAPSE in found(fading)) is matters


@pytest.mark.parametrize(("horizon", "arrives"), [(N, True), (N // 2 + 2, False)])
def test_entropy_matters_by_when_it_arrives(horizon, arrives):
    half = run(FLAT_MIDDLE, entropy=1.2 * np.exp(-4 * T) + noise(0.001, 3)).head(N // 2)
    assert (Symptom.ENTROPY_COLLAPSE in found(half, max_steps=horizon)) is arrives


def test_entropy_names_the_step():
    evidence = found(run(FLAT_MIDDLE, entropy=1.2 * np.exp(-4 * T)).head(N // 2), max_steps=N)[
        Symptom.ENTROPY_COLLAPSE
    ].evidence
    step = int(evidence.split("by step ")[1].split()[0])
    assert abs(step - 150) < 10  # 5 % of its start is reached at exp(-4 t) = .05


def test_told_completions_decide_where_nothing_is_logged():
    noisy = curve(np.random.default_rng(1).normal(0.5, 0.2, N))
    assert Symptom.TOO_FEW_COMPLETIONS in found(noisy, completions_per_step=8)
    assert Symptom.TOO_FEW_COMPLETIONS not in found(noisy, completions_per_step=512)
    assert Symptom.TOO_FEW_COMPLETIONS not in found(noisy)
