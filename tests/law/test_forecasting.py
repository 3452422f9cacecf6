import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_ops.curve import RewardCurve
from grpo_ops.errors import LawError
from grpo_ops.law import FitStatus, Phase, forecast
from grpo_ops.reading import read_curve

REWARDS = st.lists(st.integers(0, 1000).map(lambda i: i / 1000), min_size=4, max_size=60)


def curve_of(rewards, max_steps=100) -> RewardCurve:
    return RewardCurve(tuple(range(1, len(rewards) + 1)), tuple(map(float, rewards)), max_steps)


@given(REWARDS, st.sampled_from([0.01, 0.5, 4.0, 1000.0]), st.sampled_from([-100.0, -1.0, 0.0, 7.0]))
@settings(max_examples=60, deadline=None)
def test_shifting_and_scaling_the_reward_shifts_and_scales_the_forecast(rewards, scale, shift):
    one, other = forecast(curve_of(rewards)), forecast(curve_of([scale * reward + shift for reward in rewards]))
    close = {"rel": 1e-5, "abs": 1e-5 * (scale + abs(shift))}
    assert other.mean == pytest.approx(scale * one.mean + shift, **close)
    assert other.sd == pytest.approx(scale * one.sd, **close)


@given(REWARDS)
@settings(max_examples=60, deadline=None)
def test_reversing_the_sign_mirrors_it(rewards):
    one, other = forecast(curve_of(rewards)), forecast(curve_of([-reward for reward in rewards])).mirrored()
    assert [other.mean, other.low, other.high] == pytest.approx([one.mean, one.low, one.high], abs=1e-6)


@given(REWARDS, st.integers(60, 5000), st.floats(0.01, 0.99))
@settings(max_examples=60, deadline=None)
def test_no_curve_raises_and_every_number_is_in_order(rewards, horizon, level):
    ahead = forecast(curve_of(rewards, None), horizon, level=level)
    assert ahead.low <= ahead.mean <= ahead.high
    assert 0 <= ahead.chance_above(0.5) <= 1
    assert ahead.path[0].step == ahead.step and ahead.path[-1].step == horizon
    assert ahead.plateau_step is None or 0 <= ahead.plateau_step < horizon


@pytest.mark.parametrize(
    ("rewards", "status"),
    [
        ([], FitStatus.TOO_FEW_POINTS),
        ([0.4, 0.5], FitStatus.TOO_FEW_POINTS),
        ([0.5] * 20, FitStatus.CONSTANT),
        ([0.0] * 20, FitStatus.CONSTANT),
    ],
)
def test_what_cannot_be_forecast_has_a_status(rewards, status):
    ahead = forecast(curve_of(rewards))
    assert (ahead.status, ahead.phase) == (status, Phase.NO_SIGNAL)
    assert json.dumps(ahead.as_dict(), allow_nan=False)


def test_siblings_set_the_band_from_three_on(rising):
    siblings = [rising(end=0.7 + 0.05 * seed, tau=0.2 + 0.05 * seed, seed=seed + 1) for seed in range(6)]
    curve = rising(upto=60)
    assert forecast(curve, siblings=siblings[:2]).calibration == "model-error"
    with_siblings = forecast(curve, siblings=siblings)
    assert with_siblings.calibration == "siblings"
    assert with_siblings.low < 0.777 < with_siblings.high


def test_the_mean_with_siblings_is_the_last_value_plus_their_change(rising):
    siblings = [rising(seed=seed, noise=0.0001) for seed in range(1, 5)]
    ahead = forecast(rising(upto=60, noise=0.0001), siblings=siblings)
    change = siblings[0].rewards
    assert ahead.mean == pytest.approx(ahead.last_value + np.mean(change[-20:]) - np.mean(change[48:60]), abs=1e-3)


def test_siblings_that_got_no_further_say_nothing(rising):
    curve = rising(upto=60)
    assert forecast(curve, siblings=[rising(seed=seed, upto=50) for seed in range(5)]) == forecast(curve)


def test_a_wider_level_is_a_wider_band(rising):
    widths = [(lambda f: f.high - f.low)(forecast(rising(upto=60), level=level)) for level in (0.5, 0.8, 0.95)]
    assert widths == sorted(widths)


def test_the_chance_agrees_with_the_band(rising):
    ahead = forecast(rising(upto=60))
    assert ahead.chance_above(ahead.low) == pytest.approx(0.9)
    assert ahead.chance_above(ahead.mean) == pytest.approx(0.5)
    assert math.isnan(forecast(curve_of([])).chance_above(0.1))
    assert forecast(curve_of([0.5] * 20, 20)).chance_above(0.4) == 1.0


def test_a_finished_run_is_forecast_to_be_what_it_is(rising):
    curve = rising()
    ahead = forecast(curve)
    assert ahead.mean == pytest.approx(np.mean(curve.rewards[-20:]))
    assert ahead.high - ahead.low < 0.05


@pytest.mark.parametrize(("tau", "expected"), [(0.1, 60), (0.2, 115)])
def test_the_plateau_onset_is_where_a_twentieth_of_the_gain_is_left(rising, tau, expected):
    assert forecast(rising(tau=tau, noise=0.01, upto=150)).plateau_step == pytest.approx(expected, abs=15)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"level": 1.0}, "level must lie between 0 and 1 but got 1.0"),
        ({"horizon": 50}, "horizon 50 is before the curve's last step 60"),
        ({"horizon": -1}, "horizon -1 is before"),
    ],
)
def test_arguments_outside_their_domain_are_refused(rising, arguments, message):
    with pytest.raises(LawError, match=message):
        forecast(rising(upto=60), **arguments)


def test_the_band_without_siblings_holds_most_public_ends(public_curves):
    hits = []
    for path in public_curves:
        whole = read_curve(path).curve
        ahead = forecast(whole.head(len(whole) // 2), horizon=whole.steps[-1])
        window = max(3, len(whole) // 10)
        hits.append(ahead.low <= np.mean(whole.rewards[-window:]) <= ahead.high)
    assert 0.72 <= np.mean(hits) <= 0.92
