import math

import numpy as np
import pytest
from scipy import stats

from grpo_ops.replay.scores import crps_normal, crps_t, normal, point


def by_integration(distribution, truth: float) -> float:
    """CRPS by its definition: the integral of (F(x) - 1{x >= truth})²."""
    grid = np.linspace(-400, 400, 800_001)
    return float(np.trapezoid((distribution.cdf(grid) - (grid >= truth)) ** 2, grid))


@pytest.mark.parametrize("truth", [-3.0, 0.0, 0.7, 5.0])
@pytest.mark.parametrize("df", [3.0, 6.0, 25.0])
def test_crps_of_students_t_is_its_integral(df, truth):
    assert crps_t(0.2, 1.5, df, truth) == pytest.approx(by_integration(stats.t(df, 0.2, 1.5), truth), abs=2e-3)


@pytest.mark.parametrize("truth", [-3.0, 0.0, 0.7])
def test_crps_of_the_normal_is_its_integral(truth):
    expected = by_integration(stats.norm(0.2, 1.5), truth)
    assert crps_normal(0.2, 1.5, truth) == pytest.approx(expected, abs=2e-3)
    assert crps_t(0.2, 1.5, math.inf, truth) == pytest.approx(expected, abs=2e-3)


def test_scores_are_in_units_of_the_source():
    one, other = normal(0.5, 0.1, 0.2, 0.6, 1.0), normal(0.5, 0.1, 0.2, 0.6, 0.5)
    assert (other.error, other.crps, other.width) == pytest.approx((2 * one.error, 2 * one.crps, 2 * one.width))
    assert one.covered == other.covered == 1.0


def test_a_point_scores_its_error():
    assert point(0.5, 0.8, 0.5).crps == pytest.approx(0.6)
    assert (point(0.5, 0.8, 0.5).covered, point(0.5, 0.5, 1.0).covered) == (0.0, 1.0)
