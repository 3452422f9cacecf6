"""The vectorised posterior against the formulas written out one shape at a time."""

import math

import numpy as np
import pytest

from grpo_ops.law.closed_form import final_level, mixture, shapes
from grpo_ops.law.series import Series


def one_by_one(y: np.ndarray, n: int) -> tuple[float, float]:
    m, w = len(y), max(3, n // 10)
    x, end = np.arange(1, m + 1) / n, np.arange(n - w + 1, n + 1) / n
    forms = [lambda x, t=t: 1 - np.exp(-x / t) for t in np.geomspace(0.04, 3, 9)]
    for q in (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0):
        for b in (6, 14, 30):
            forms.append(lambda x, q=q, b=b: 1 / (1 + np.exp(-b * (x - q))) - 1 / (1 + np.exp(b * q)))
    trailing = [np.mean(y[max(0, i - w + 1) : i + 1]) for i in range(m)]
    s2 = np.var(np.diff(y)) / 2 + 0.02 * np.var(y) + 1e-8 * np.ptp(y) ** 2
    r = 2 * max(np.ptp(trailing), math.sqrt(s2 / w)) + 1e-9 * np.ptp(y)
    r0, v0 = np.mean(y[:w]), 1e3 * (s2 + r * r)
    rows = []
    for form in forms:
        g, gf = form(x), np.mean(form(end))
        a, b, d = m / s2 + 1 / v0, g.sum() / s2, (g * g).sum() / s2 + 1 / r**2
        u, v = y.sum() / s2 + r0 / v0, (g * y).sum() / s2
        det = a * d - b * b
        start, gain = (d * u - b * v) / det, (a * v - b * u) / det
        weight = (u * start + v * gain) / 2 - math.log(det) / 2
        rows.append((weight, start + gain * gf, (d - 2 * b * gf + a * gf * gf) / det))
    weights = np.exp(np.array([row[0] for row in rows]) - max(row[0] for row in rows))
    weights /= weights.sum()
    means, variances = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    mean = weights @ means
    return mean, math.sqrt(weights @ (variances + (means - mean) ** 2))


@pytest.mark.parametrize("upto", [5, 20, 60, 150, 200])
def test_it_is_the_formula(rising, upto):
    series = Series.of(rising(upto=upto))
    assert final_level(series) == pytest.approx(one_by_one(series.y, 200), rel=1e-5)


def test_shapes_start_at_zero_and_never_fall():
    assert shapes(np.array([0.0])) == pytest.approx(np.zeros((30, 1)))
    assert (np.diff(shapes(np.linspace(0, 1, 50)), axis=1) >= 0).all()


@pytest.mark.parametrize("tau", [0.1, 0.3])
def test_it_finds_the_end_of_a_clean_riser(rising, tau):
    mean, sd = final_level(Series.of(rising(tau=tau, noise=0.01, upto=100)))
    truth = 0.8 - 0.6 * np.mean(np.exp(-np.linspace(0.905, 1, 20) / tau))
    assert abs(mean - truth) < max(0.03, 2 * sd)


def test_a_long_curve_is_thinned_without_harm(rising):
    short, long = (final_level(Series.of(rising(n=n, upto=n // 2, noise=0.02))) for n in (500, 20_000))
    assert long[0] == pytest.approx(short[0], abs=0.05)


def test_a_constant_curve_stays_what_it_is(rising):
    assert final_level(Series.of(rising(end=0.2, noise=0, upto=30))) == (pytest.approx(0.2), 0.0)


def test_the_path_ends_at_the_level(rising):
    series = Series.of(rising(upto=80))
    law = mixture(series)
    x = np.arange(181, 201) / 200
    assert law.path(x).mean() == pytest.approx(law.level(x)[0])
