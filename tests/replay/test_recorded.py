"""What the forecasts are worth on the sweeps that this project recorded, those held out among them."""

from pathlib import Path

import numpy as np
import pytest

from grpo_ops.replay import BacktestRow, backtest, load_sources, mean_rows

SWEEPS = Path(__file__).parents[2] / "benchmarks" / "sweeps"
HELD_OUT = (SWEEPS / "HELD_OUT").read_text().split()


@pytest.fixture(scope="module")
def rows() -> list[BacktestRow]:
    return backtest(load_sources(sorted(SWEEPS.glob("*.json"))), siblings=5)


def of(rows, method: str, siblings: int, name: str) -> float:
    return float(np.mean([getattr(row, name) for row in rows if (row.method, row.siblings) == (method, siblings)]))


def test_all_recorded_sweeps_are_complete():
    sources = load_sources(sorted(SWEEPS.glob("*.json")))
    assert len(sources) >= 6 and set(HELD_OUT) < {source.name for source in sources}
    for source in sources:
        assert len(source.curves) == 24 and all(source.params)
        assert all(curve is not None and len(curve) >= 9 for curve in source.evaluations)
        for curve in source.curves:
            assert {"entropy", "frac_reward_zero_std", "grad_norm", "reward_std"} <= set(curve.metrics)


def test_with_five_siblings_the_forecast_beats_the_calibrated_last_value_at_every_progress(rows):
    means = {(row.method, row.siblings, row.progress): row.crps for row in mean_rows(rows)}
    shares = sorted({progress for _, _, progress in means})
    ratios = [means["law", 5, share] / means["calibrated_last_value", 5, share] for share in shares]
    assert max(ratios) < 0.95 and np.mean(ratios) < 0.85


def test_the_bands_hold_what_they_say_on_average(rows):
    assert 0.72 <= of(rows, "law", 5, "coverage") <= 0.9
    assert 0.7 <= of(rows, "law", 0, "coverage") <= 0.92


@pytest.mark.parametrize("name", HELD_OUT)
def test_what_no_constant_was_fitted_on_is_forecast_as_well(rows, name):
    own = [row for row in rows if row.source == name]
    assert of(own, "law", 5, "crps") < of(own, "calibrated_last_value", 5, "crps")
    assert 0.6 <= of(own, "law", 5, "coverage") <= 0.97
