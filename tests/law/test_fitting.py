import json
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_ops.curve import RewardCurve
from grpo_ops.errors import LawError
from grpo_ops.law import LAWS, FitStatus, Law, LawFit, exponential, fit, fit_all, logistic, rise_and_decline
from grpo_ops.law.optimum import best
from grpo_ops.law.problem import Problem
from grpo_ops.law.sample import Sample
from grpo_ops.law.series import Series
from grpo_ops.reading import read_curve

TYPICAL = {
    "exponential": (0.2, 0.8, 0.3),
    "logistic": (0.2, 0.8, 12.0, 0.3),
    "scalerl": (0.2, 0.8, 0.3, 3.0),
    "damped": (0.2, 0.8, 12.0, 0.8),
    "rise_and_decline": (0.2, 0.8, 0.4, 0.1, 0.6),
}
every_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)


def planted(law: Law, noise=0.04, n=200, seed=0, steps=None) -> RewardCurve:
    path = law.predict(np.arange(1, n + 1) / n, np.array(TYPICAL[law.name]))
    rewards = path + np.random.default_rng(seed).normal(0, noise, n)
    return RewardCurve(tuple(range(1, n + 1)), tuple(map(float, rewards)), n)


def changed(curve: RewardCurve, factor: float, shift: float = 0.0) -> RewardCurve:
    return RewardCurve(curve.steps, tuple(factor * reward + shift for reward in curve.rewards), curve.max_steps)


def holds(found: LawFit, law: Law) -> bool:
    intervals = [found.interval(name, 0.999) for name in law.names]
    return all(low <= value <= high for (low, high), value in zip(intervals, TYPICAL[law.name], strict=True))


@pytest.mark.parametrize(("end", "tau"), [(0.8, 0.1), (0.8, 0.3), (0.5, 0.6), (0.05, 0.2)])
def test_planted_parameters_come_back(rising, end, tau):
    found = fit(rising(end=end, tau=tau, noise=0.005))
    assert found.status is FitStatus.OK
    assert [*found.params] == ["R0", "R_inf", "tau"]
    assert [*found.params.values()] == pytest.approx([0.2, end, tau], rel=0.15, abs=0.02)
    assert found.noise == pytest.approx(0.005, rel=0.2)


@every_law
def test_every_law_finds_its_own_parameters(law: Law):
    found = fit(planted(law), law)
    assert found.status is FitStatus.OK and found.at_bound == ()
    assert found.noise == pytest.approx(0.04, rel=0.15)
    assert holds(found, law)


@every_law
def test_without_noise_they_come_back_exactly(law: Law):
    found = fit(planted(law, noise=0.0), law)
    assert [*found.params.values()] == pytest.approx(TYPICAL[law.name], rel=1e-3)
    assert found.r2 == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("rewards", "status"),
    [
        ((), FitStatus.TOO_FEW_POINTS),
        ((0.1, 0.2), FitStatus.TOO_FEW_POINTS),
        ((0.1, 0.2, 0.3, 0.4, 0.5), FitStatus.TOO_FEW_POINTS),
        ((0.5,) * 30, FitStatus.CONSTANT),
        ((0.0,) * 30, FitStatus.CONSTANT),
        (tuple(float(index % 2) for index in range(60)), FitStatus.POOR),
    ],
)
@every_law
def test_a_bad_fit_is_a_status(rewards, status, law: Law):
    found = fit(RewardCurve(tuple(range(len(rewards))), rewards, 100), law)
    assert found.status is status
    assert bool(found.params) == (status is FitStatus.POOR)
    assert json.dumps(found.as_dict(), allow_nan=False)


def test_a_law_that_is_nowhere_finite_has_failed():
    broken = Law("broken", ("R0", "R_inf"), lambda x, p: x * math.nan, exponential.guess, lambda x, y: (y[:2], y[:2]))
    guessing = Law("broken", ("R0", "R_inf"), broken.predict, lambda x, y: [y[:2]], broken.bounds)
    assert fit(planted(exponential), guessing).status is FitStatus.FAILED


def test_progress_is_measured_against_the_planned_end(rising):
    half = fit(rising(noise=0.005, upto=100))
    assert half.horizon == 200
    assert half.params["tau"] == pytest.approx(0.3, rel=0.1)


@every_law
def test_shifting_and_scaling_the_reward_shifts_and_scales_the_law(law: Law):
    curve = planted(law)
    one, other = fit(curve, law), fit(changed(curve, 3, -5), law)
    for index, name in enumerate(law.names):
        factor, shift = (3, -5 if index < law.levels else 0) if index < law.levels + law.gains else (1, 0)
        assert other.params[name] == pytest.approx(factor * one.params[name] + shift, rel=1e-3)
        assert other.standard_errors[name] == pytest.approx(factor * one.standard_errors[name], rel=1e-2)
    assert other.r2 == pytest.approx(one.r2, abs=1e-6)
    assert other.aicc == pytest.approx(one.aicc, abs=1e-3)


@every_law
def test_a_falling_curve_is_the_mirror_image_of_a_rising_one(law: Law):
    curve = planted(law)
    one, other = fit(curve, law), fit(changed(curve, -1), law)
    for index, name in enumerate(law.names):
        sign = -1 if index < law.levels + law.gains else 1
        assert other.params[name] == pytest.approx(sign * one.params[name], rel=1e-6)
    assert other.covariance == pytest.approx(np.array(one.covariance) * _signs(law), rel=1e-4, abs=1e-12)


def _signs(law: Law) -> np.ndarray:
    signs = np.where(np.arange(len(law.names)) < law.levels + law.gains, -1.0, 1.0)
    return np.outer(signs, signs)


def test_single_outliers_move_the_law_little(rising):
    curve = rising(noise=0.03)
    spoilt = list(curve.rewards)
    for index in (20, 90, 150, 180):
        spoilt[index] -= 3.0
    found = fit(RewardCurve(curve.steps, tuple(spoilt), curve.max_steps))
    assert found.params["R_inf"] == pytest.approx(fit(curve).params["R_inf"], abs=0.01)


def test_a_point_counts_by_the_steps_that_it_averages():
    steps = [step for block in range(0, 400, 7) for step in (block + 1, block + 2, block + 3, block + 7)]
    weights = Sample.of(Series.of(RewardCurve(tuple(steps), tuple(np.sin(steps).tolist())))).weights
    assert weights[7] / weights[6] == pytest.approx(4)
    assert weights.mean() == pytest.approx(1)


@every_law
def test_no_optimum_is_missed_that_scipy_finds(law: Law):
    from scipy.optimize import least_squares

    for seed in range(3):
        problem = Problem.of(law, Sample.of(Series.of(planted(law, noise=0.08, n=100, seed=seed))))
        truth = _normalised_truth(problem)
        span = problem.high - problem.low
        start = np.clip(truth, problem.low + 1e-6 * span, problem.high - 1e-6 * span)
        reference = least_squares(problem.residuals, start, bounds=(problem.low, problem.high), loss="soft_l1")
        assert best(problem).cost <= 2 * reference.cost * (1 + 1e-6)


def _normalised_truth(problem: Problem) -> np.ndarray:
    sample, law, p = problem.sample, problem.law, np.array(TYPICAL[problem.law.name])
    p[: law.levels] -= sample.origin * sample.unit
    p[: law.levels + law.gains] /= sample.spread * sample.unit
    return problem.coordinates(p)


@every_law
def test_bootstrap_and_hessian_agree_where_noise_is_independent(law: Law):
    curve = planted(law, noise=0.03)
    one, other = fit(curve, law), fit(curve, law, covariance="bootstrap")
    assert (one.covariance_method, other.covariance_method) == ("hessian", "bootstrap")
    assert one.params == other.params
    for name in law.names:
        assert other.standard_errors[name] == pytest.approx(one.standard_errors[name], rel=0.35)
    assert fit(curve, law, covariance="bootstrap") == other


def test_correlated_noise_widens_the_intervals(rising):
    curve, draws = rising(noise=0.0, n=400), np.random.default_rng(1).normal(0, 0.05, 401)
    independent = RewardCurve(curve.steps, tuple(map(float, np.array(curve.rewards) + draws[1:])), 400)
    mixed = (draws[1:] + draws[:-1]) / math.sqrt(2)
    correlated = RewardCurve(curve.steps, tuple(map(float, np.array(curve.rewards) + mixed)), 400)
    one, other = fit(independent), fit(correlated)
    assert other.standard_errors["R_inf"] > 1.25 * one.standard_errors["R_inf"]
    assert other.dof < one.dof


def test_intervals_grow_with_their_level_and_stay_positive(rising):
    found = fit(rising())
    for name in found.params:
        narrow, wide = found.interval(name, 0.5), found.interval(name, 0.99)
        assert wide[0] < narrow[0] < found.params[name] < narrow[1] < wide[1]
    assert found.interval("tau", 1 - 1e-12)[0] > 0


def test_where_there_is_no_upper_limit_the_interval_says_so(rising):
    found = fit(rising(tau=0.3), LAWS["damped"])
    assert found.interval("z")[1] == math.inf
    assert found.as_dict()["intervals"]["z"][1] is None


@pytest.mark.parametrize(("name", "level"), [("tau", 0.0), ("tau", 1.0), ("gain", 0.95)])
def test_what_has_no_interval_is_refused(rising, name, level):
    with pytest.raises(LawError, match=r"level must lie|no parameter 'gain'"):
        fit(rising()).interval(name, level)


def test_an_unknown_covariance_is_refused(rising):
    with pytest.raises(LawError, match="one of hessian, bootstrap but got 'jackknife'"):
        fit(rising(), covariance="jackknife")


@every_law
def test_comparing_puts_the_right_law_first(law: Law):
    found = fit_all(planted(law, noise=0.02, n=400))
    assert found[0].law == law.name
    assert [one.aicc for one in found] == sorted(one.aicc for one in found)


def test_comparing_puts_laws_without_a_fit_last():
    curve = RewardCurve(tuple(range(6)), (0.1, 0.3, 0.4, 0.45, 0.5, 0.48))
    statuses = [one.status for one in fit_all(curve, [logistic, rise_and_decline, exponential])]
    assert statuses == [FitStatus.OK, FitStatus.TOO_FEW_POINTS, FitStatus.TOO_FEW_POINTS]


def test_of_a_plain_saturation_the_plain_law_is_preferred(rising):
    found = fit_all(rising(noise=0.05), [exponential, rise_and_decline])
    assert found[0].law == "exponential"


@every_law
def test_a_hundred_thousand_points_are_averaged_first(law: Law):
    found = fit(planted(law, noise=0.2, n=100_000), law)
    assert found.n == 100_000 and found.noise == pytest.approx(0.2, rel=0.02)
    assert holds(found, law)


magnitudes = st.sampled_from([1e-300, 1e-150, 1e-6, 1.0, 1e6, 1e150, 1e300])
rewards = st.one_of(
    st.lists(st.floats(-1.7, 1.7), min_size=0, max_size=40),
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=0, max_size=40),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=6, max_size=20),
)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), law=st.sampled_from([*LAWS.values()]), values=rewards, scale=magnitudes)
def test_no_curve_raises_or_warns(data, law, values, scale):
    scaled = [value * scale if math.isfinite(value * scale) else value for value in values]
    gaps = data.draw(st.lists(st.integers(1, 10**6), min_size=len(values), max_size=len(values)))
    planned = data.draw(st.one_of(st.none(), st.integers(1, 10**9)))
    steps = tuple(np.cumsum(gaps, dtype=int).tolist())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fit(RewardCurve(steps, tuple(scaled), planned), law)
        assert json.dumps(found.as_dict(), allow_nan=False)
    assert isinstance(found.status, FitStatus)


def test_every_public_curve_gets_a_fit(public_curves):
    statuses = {fit(read_curve(path).curve).status for path in public_curves[::4]}
    assert FitStatus.OK in statuses and FitStatus.FAILED not in statuses
