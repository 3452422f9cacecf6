"""The intervals hold the truth as often as they say. The full table is printed by benchmarks.law_recovery."""

import numpy as np
import pytest

from benchmarks.law_recovery import PLANTS, Plant, coverage, fits

_DRAWS = 200
# A true coverage of 92 to 98 % gives 200 draws a count outside of these once in a thousand times (binomial).
_FEWEST, _MOST = 0.855, 1.0
_TYPICAL = [plant for index, plant in enumerate(PLANTS) if index % 4 == 1]


@pytest.mark.parametrize("plant", _TYPICAL, ids=lambda plant: plant.law)
def test_the_intervals_hold_the_truth_about_as_often_as_they_say(plant: Plant):
    shares = coverage(plant, fits(plant, n=100, rho=0.0, draws=_DRAWS))
    assert all(_FEWEST <= share <= _MOST for share in shares.values()), shares
    assert 0.92 <= np.mean([*shares.values()]) <= 0.985


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.3])
@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: f"{plant.law}{plant.params}")
def test_so_they_do_for_every_plant(plant: Plant, n: int, rho: float):
    shares = coverage(plant, fits(plant, n, rho, _DRAWS))
    assert all(_FEWEST <= share <= _MOST for share in shares.values()), shares
