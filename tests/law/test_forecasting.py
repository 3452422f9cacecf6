import itertools
import json
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_ops.curve import RewardCurve
from grpo_ops.errors import LawError
from grpo_ops.law import FitStatus, Phase, Pool, forecast
from grpo_ops.reading import read_curve

REWARDS = st.lists(st.integers(0, 1000).map(lambda i: i / 1000), min_size=4, max_size=60)


def numbers_of(ahead) -> list[float]:
    names = ("mean", "low", "high", "sd", "last_value", "next_low", "next_high")
    return [getattr(ahead, name) for name in names]


def curve_of(rewards, max_steps=100) -> RewardCurve:
    return RewardCurve(tuple(range(1, len(rewards) + 1)), tuple(map(float, rewards)), max_steps)


@given(REWARDS, st.sampled_from([0.01, 0.5, 4.0, 1000.0]), st.sampled_from([-100.0, -1.0, 0.0, 7.0]))
@settings(max_examples=60, deadline=None)
def test_shifting_and_scaling_the_reward_shifts_and_scales_the_forecast(rewards, scale, shift):
    one, other = forecast(curve_of(rewards)), forecast(curve_of([scale * reward + shift for reward in rewards]))
    close = {"rel": 1e-5, "abs": 1e-5 * (scale + abs(shift))}
    assert other.mean == pytest.approx(scale * one.mean + shift, **close)
    assert other.sd == pytest.approx(scale * one.sd, **close, nan_ok=True)
    assert (other.plateau_step, other.collapse_chance) == pytest.approx(
        (one.plateau_step, one.collapse_chance), abs=1e-4, nan_ok=True
    )


@given(REWARDS)
@settings(max_examples=60, deadline=None)
def test_reversing_the_sign_mirrors_it(rewards):
    one, other = forecast(curve_of(rewards)), forecast(curve_of([-reward for reward in rewards])).mirrored()
    assert numbers_of(other) == pytest.approx(numbers_of(one), abs=1e-6, nan_ok=True)


@given(REWARDS, st.integers(1, 10_000))
@settings(max_examples=40, deadline=None)
def test_a_constant_step_offset_changes_nothing_but_the_steps(rewards, offset):
    curve = curve_of(rewards, None)
    moved = RewardCurve(tuple(step + offset for step in curve.steps), curve.rewards)
    one, other = forecast(curve, curve.steps[-1] * 2), forecast(moved, curve.steps[-1] * 2 + offset)
    assert numbers_of(other) == pytest.approx(numbers_of(one), abs=1e-9, nan_ok=True)


def test_a_constant_step_offset_moves_the_plateau_with_it(rising):
    curve = rising(tau=0.2, noise=0.01, upto=150)
    moved = RewardCurve(tuple(step + 1000 for step in curve.steps), curve.rewards, curve.max_steps + 1000)
    one, other = forecast(curve), forecast(moved)
    assert one.plateau_step is not None and one.plateau_high is not None
    assert other.plateau_step == one.plateau_step + 1000
    assert (other.plateau_low, other.plateau_high) == (one.plateau_low + 1000, one.plateau_high + 1000)


def test_a_horizon_however_far_costs_no_more():
    curve = curve_of([0.1, 0.4, 0.2, 0.5, 0.3, 0.6, 0.55], None)
    near, far = forecast(curve, 10**7), forecast(curve, 10**12)
    assert far.mean == pytest.approx(near.mean, abs=1e-4)
    assert far.high - far.low >= near.high - near.low


BEYOND = [1e300, 1e200, 1e-300, 5e-324]


@pytest.mark.parametrize("scale", BEYOND)
def test_rewards_that_no_float_can_square_fail_and_say_so(rising, scale):
    curve = RewardCurve(rising().steps, tuple(scale * reward for reward in rising().rewards), 400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ahead = forecast(curve, siblings=[rising(seed=seed) for seed in range(3)])
    assert (ahead.status, ahead.phase, ahead.calibration) == (FitStatus.FAILED, Phase.NO_SIGNAL, "none")
    assert math.isnan(ahead.low) and json.dumps(ahead.as_dict(), allow_nan=False)


@pytest.mark.parametrize("scale", BEYOND)
def test_siblings_that_no_float_can_square_say_nothing(rising, scale):
    tame = [rising(seed=seed) for seed in range(3)]
    wild = [RewardCurve(curve.steps, tuple(scale * reward for reward in curve.rewards), 200) for curve in tame]
    assert Pool.of(wild).left_out == 3
    assert forecast(rising(upto=60), siblings=wild) == forecast(rising(upto=60))


@given(REWARDS, st.lists(st.integers(60, 3000), min_size=2, max_size=6), st.integers(0, 6))
@settings(max_examples=60, deadline=None)
def test_a_longer_horizon_never_narrows_the_band(rewards, horizons, others):
    siblings = Pool.of([curve_of([0.1 * k + 0.002 * s + 0.03 * (s % 3) for s in range(100)]) for k in range(others)])
    found = [forecast(curve_of(rewards, None), horizon, siblings) for horizon in sorted(horizons)]
    widths = [one.high - one.low for one in found if not math.isnan(one.sd)]
    assert all(longer >= shorter * (1 - 1e-9) for shorter, longer in itertools.pairwise(widths))


@given(REWARDS, st.integers(60, 5000), st.floats(0.01, 0.99))
@settings(max_examples=60, deadline=None)
def test_no_curve_raises_and_every_number_is_in_order(rewards, horizon, level):
    ahead = forecast(curve_of(rewards, None), horizon, level=level)
    if len(set(rewards)) == 1 and horizon > len(rewards):
        assert math.isnan(ahead.low) and math.isnan(ahead.chance_above(0.5)) and ahead.mean == rewards[0]
        return
    assert ahead.low <= ahead.mean <= ahead.high
    assert ahead.next_low <= ahead.next_mean <= ahead.next_high
    assert 0 <= ahead.chance_above(0.5) <= 1 and 0 <= ahead.collapse_chance <= 1
    if ahead.plateau_step is not None:
        assert ahead.plateau_low <= ahead.plateau_step <= (ahead.plateau_high or horizon)
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


def test_siblings_set_the_band_from_two_on(rising):
    siblings = [rising(end=0.7 + 0.05 * seed, tau=0.2 + 0.05 * seed, seed=seed + 1) for seed in range(6)]
    curve = rising(upto=60)
    assert forecast(curve, siblings=siblings[:1]).calibration == "model-error"
    with_siblings = forecast(curve, siblings=siblings)
    assert with_siblings.calibration == "siblings"
    assert with_siblings.low < 0.777 < with_siblings.high


def test_a_run_like_its_siblings_is_expected_where_they_ended(rising):
    siblings = [rising(seed=seed, noise=0.01) for seed in range(1, 6)]
    ahead = forecast(rising(upto=40, noise=0.01), siblings=siblings)
    assert ahead.mean == pytest.approx(np.mean(siblings[0].rewards[-20:]), abs=0.03)
    assert ahead.low < np.mean(siblings[0].rewards[-20:]) < ahead.high


def test_siblings_that_have_not_finished_say_nothing(rising):
    curve = rising(upto=60)
    assert forecast(curve, siblings=[rising(seed=seed, upto=150) for seed in range(5)]) == forecast(curve)


def test_a_pool_prepared_once_says_what_the_curves_say(rising):
    siblings = [rising(seed=seed, end=0.5 + 0.1 * seed) for seed in range(4)]
    curve = rising(upto=60)
    assert forecast(curve, siblings=Pool.of(siblings)) == forecast(curve, siblings=siblings)


def test_siblings_sharpen_the_band_of_a_run_that_has_hardly_begun(rising):
    siblings = [rising(seed=seed) for seed in range(1, 9)]
    curve = rising(upto=20)
    alone, pooled = forecast(curve), forecast(curve, siblings=siblings)
    assert pooled.high - pooled.low < 0.7 * (alone.high - alone.low)


def test_a_run_that_never_moved_has_no_band_until_siblings_say_more(rising):
    flat = curve_of([0.0] * 20, 200)
    assert forecast(flat).calibration == "none"
    pooled = forecast(flat, siblings=[rising(seed=seed) for seed in range(4)])
    assert pooled.calibration == "siblings" and pooled.low < pooled.high
    assert pooled.status is FitStatus.CONSTANT


def test_hyperparameters_tell_which_siblings_are_like_the_run(rising):
    siblings = [rising(seed=seed, end=0.3 if seed % 2 else 0.9, tau=0.5) for seed in range(8)]
    params = [{"learning_rate": 1e-5 if seed % 2 else 1e-3} for seed in range(8)]
    pool, curve = Pool.of(siblings, params), rising(upto=10, tau=0.5, end=0.9)
    slow, fast = (forecast(curve, siblings=pool, params={"grpo.learning_rate": rate}).mean for rate in (1e-5, 1e-3))
    assert slow < forecast(curve, siblings=pool).mean < fast


def test_the_next_observation_has_the_noise_of_one_point(rising):
    ahead = forecast(rising(upto=100, noise=0.05))
    assert ahead.next_high - ahead.next_low > 2 * 1.28 * 0.05
    assert ahead.next_mean == pytest.approx(ahead.last_value, abs=0.05)


def test_a_collapse_is_more_likely_after_a_fall_than_on_a_plateau(rising):
    plateau = rising(upto=120, tau=0.1)
    fallen = RewardCurve(plateau.steps, (*plateau.rewards[:90], *(r - 0.25 for r in plateau.rewards[90:])), 200)
    assert forecast(plateau).collapse_chance < 0.05 < forecast(fallen).collapse_chance


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
        ({"plateau_share": 0.0}, "plateau_share must lie between 0 and 1 but got 0.0"),
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
