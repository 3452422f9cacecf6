"""Each law against its formula: its docstring's numbers, its differential equation, its limits."""

import doctest
import importlib

import numpy as np
import pytest

from grpo_ops.law import LAWS, Law, damped, exponential, logistic, rise_and_decline, scalerl

X = np.linspace(0, 1, 101)
MODULES = ["saturation", "logistic", "scalerl", "oscillator", "rise_and_decline", "scales"]
TYPICAL = {
    "exponential": (0.2, 0.8, 0.3),
    "logistic": (0.2, 0.8, 12.0, 0.3),
    "scalerl": (0.2, 0.8, 0.3, 3.0),
    "damped": (0.2, 0.8, 12.0, 1.2),
    "rise_and_decline": (0.2, 0.8, 0.4, 0.1, 0.6),
}


@pytest.mark.parametrize("module", MODULES)
def test_the_numbers_in_the_docstrings(module):
    results = doctest.testmod(importlib.import_module(f"grpo_ops.law.{module}"), extraglobs={"np": np})
    assert results.attempted >= 1 and results.failed == 0


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_it_starts_at_r0_and_is_linear_in_its_levels(law: Law):
    p = np.array(TYPICAL[law.name])
    assert law.predict(X[:1], p) == pytest.approx([p[0]])
    linear = law.levels + law.gains
    columns = [law.predict(X, np.concatenate((unit, p[linear:]))) for unit in np.eye(linear)]
    assert np.stack(columns, axis=1) @ p[:linear] == pytest.approx(law.predict(X, p))
    assert sum(columns[: law.levels]) == pytest.approx(np.ones_like(X))


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_its_guesses_are_finite_and_one_is_near_the_truth(law: Law):
    p = np.array(TYPICAL[law.name])
    y = law.predict(X, p)
    guesses = law.guess(X, y)
    assert all(len(guess) == len(law.names) and np.all(np.isfinite(guess)) for guess in guesses)
    errors = [np.max(np.abs(law.predict(X, guess) - y)) for guess in guesses]
    assert min(errors) < 0.15 * np.ptp(y)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_its_bounds_hold_what_is_typical(law: Law):
    low, high = law.bounds(X, law.predict(X, np.array(TYPICAL[law.name])))
    assert np.all(low < TYPICAL[law.name]) and np.all(TYPICAL[law.name] < high)


@pytest.mark.parametrize("ratio", [0.3, 0.9, 1.0, 1.3, 4.0])
def test_the_oscillator_solves_its_differential_equation(ratio):
    from scipy.integrate import solve_ivp

    start, end, w = 0.2, 0.8, 9.0
    solution = solve_ivp(
        lambda _, state: [state[1], -2 * ratio * w * state[1] - w * w * (state[0] - end)],
        (0, 1),
        [start, 0.0],
        t_eval=X,
        rtol=1e-9,
        atol=1e-11,
    )
    assert damped.predict(X, np.array([start, end, w, ratio])) == pytest.approx(solution.y[0], abs=1e-7)


@pytest.mark.parametrize("step", [1e-4, 1e-8, 1e-12, 1e-16])
def test_the_oscillator_passes_through_critical_damping_without_a_seam(step):
    below, at, above = (damped.predict(X, np.array([0.0, 1.0, 30.0, z])) for z in (1 - step, 1.0, 1 + step))
    assert below == pytest.approx(at, abs=20 * step + 1e-15)
    assert above == pytest.approx(at, abs=20 * step + 1e-15)


def test_the_oscillator_does_not_overflow():
    with np.errstate(all="raise", under="ignore"):
        path = damped.predict(X, np.array([0.0, 1.0, 400.0, 50.0]))
    assert np.all(np.isfinite(path)) and path[-1] == pytest.approx(1 - np.exp(-4.0), abs=0.01)


def test_the_oscillator_becomes_the_exponential_law():
    w, z = 400.0, 60.0
    slow = (z + np.sqrt(z * z - 1)) / w
    law = exponential.predict(X, np.array([0.2, 0.8, slow]))
    assert damped.predict(X, np.array([0.2, 0.8, w, z])) == pytest.approx(law, abs=1e-4)


def test_the_logistic_is_a_sigmoid_moved_to_start_at_r0():
    rate, middle = 12.0, 0.3
    sigmoid = 1 / (1 + np.exp(-rate * (X - middle)))
    share = (sigmoid - sigmoid[0]) / (1 - sigmoid[0])
    assert logistic.predict(X, np.array([0.2, 0.8, rate, middle])) == pytest.approx(0.2 + 0.6 * share)


def test_scalerl_has_half_of_its_gain_at_the_middle():
    for exponent in (0.5, 1.0, 4.0):
        assert scalerl.predict(np.array([0.37]), np.array([0.2, 0.8, 0.37, exponent])) == pytest.approx([0.5])


def test_without_a_drop_rise_and_decline_is_the_exponential_law():
    law = exponential.predict(X, np.array([0.2, 0.8, 0.15]))
    assert np.array_equal(rise_and_decline.predict(X, np.array([0.2, 0.8, 0.0, 0.15, 0.6])), law)


def test_the_drop_is_half_done_at_the_turn_and_lost_in_the_end():
    lost = -rise_and_decline.predict(np.array([0.0, 0.6, 2.0]), np.array([0.0, 0.0, 0.4, 0.15, 0.6]))
    assert lost == pytest.approx([0.0, 0.2, 0.4], abs=1e-5)


def test_every_law_is_there_by_its_name():
    assert all(name == law.name for name, law in LAWS.items())
    assert len({hash(law) for law in LAWS.values()}) == len(LAWS) == 5
