import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_ops.curve import Evaluation, RewardCurve
from grpo_ops.pruning import PruneReason, PruneRule, TrialView, decide

R = PruneReason
EVERY = PruneRule(collapse=False)


def reasons(curve: RewardCurve, others: list[TrialView], rule: PruneRule) -> dict[int, PruneReason]:
    """What is decided at the checks, up to the stop."""
    found = {}
    for m in range(1, len(curve) + 1):
        decision = decide(TrialView("trial", curve.head(m)), others, rule)
        if decision.reason is not R.NOT_A_CHECK:
            found[curve.steps[m - 1]] = decision.reason
        if decision.stop:
            break
    return found


@pytest.mark.parametrize(
    ("own", "stops_at"),
    [
        ({"end": 0.25}, 10),  # far below, clearly from the first check on
        ({"end": 0.9}, None),
        ({"end": 0.8, "seed": 9}, None),  # the incumbent's own twin
        ({"end": 0.55, "tau": 0.15}, 15),  # quick, but saturates below
    ],
)
def test_a_trial_stops_where_it_is_behind_and_does_not_catch_up(curve, finished, own, stops_at):
    found = reasons(curve(**own), finished, EVERY)
    stopped = [step for step, reason in found.items() if reason.stops]
    if stops_at is None:
        assert not stopped
    else:
        assert stopped and stopped[0] >= stops_at and found[stopped[0]] is R.HOPELESS


def test_a_trial_without_others_goes_on(curve):
    assert set(reasons(curve(end=0.21), [], EVERY).values()) == {R.TOO_FEW_POINTS, R.NO_INCUMBENT}


def test_failed_and_pruned_trials_are_no_incumbents(curve):
    others = [TrialView("a", curve(), state="failed"), TrialView("b", curve(upto=60), state="pruned")]
    assert decide(TrialView("trial", curve(end=0.21, upto=20)), others, EVERY).reason is R.NO_INCUMBENT


def test_a_running_trial_is_an_incumbent_only_where_it_got_so_far(curve):
    own = TrialView("trial", curve(end=0.21, upto=40))
    assert decide(own, [TrialView("a", curve(upto=39))], EVERY).reason is R.NO_INCUMBENT
    ahead = decide(own, [TrialView("a", curve(upto=60))], EVERY)
    assert (ahead.reason, ahead.incumbent_key) == (R.HOPELESS, "a")


@pytest.mark.parametrize(("rival_at", "counts"), [(49, False), (50, True)])
def test_from_half_of_its_run_a_running_trial_counts_for_its_forecast(curve, rival_at, counts):
    """Side by side there is nothing ahead of this step to beat; the rival still rises steadily towards 0.97."""
    rule = PruneRule(collapse=False)
    rival = TrialView("rival", curve(end=1.0, tau=0.6, upto=rival_at))
    own = TrialView("trial", curve(end=0.7, tau=0.6, upto=40))
    found = decide(own, [rival], rule)
    level = rival.series(rule).recent()
    assert (found.incumbent > level) is counts


def test_early_checks_wait_until_trials_differ(curve):
    alike = [TrialView(str(seed), curve(seed=seed, noise=0.1), state="finished") for seed in range(4)]
    assert decide(TrialView("trial", curve(noise=0.1, seed=7, upto=10)), alike, EVERY).reason is R.TOO_ALIKE


def test_a_slow_starter_among_slow_starters_is_spared(curve):
    """All finished trials rose late: what they gained from here counts for one that has not risen yet."""
    steps = tuple(range(1, 101))
    late = tuple(0.1 + (0.7 if step > 60 else 0.0) + 0.001 * (step % 3) for step in steps)
    others = [TrialView(str(i), RewardCurve(steps, late, 100), state="finished") for i in range(3)]
    low = RewardCurve(steps, tuple(value - 0.02 for value in late), 100).head(40)
    spared = decide(TrialView("trial", low), others, PruneRule(collapse=False, caution=0.6))
    guarded = spared.numbers["expected"] - spared.numbers["law"]
    assert guarded > 0.2


def test_the_reference_is_the_trial_that_set_the_incumbent(curve, finished):
    """A trial that led early and collapsed later is not the bar for everybody."""
    steps = tuple(range(1, 101))
    rose_and_fell = tuple(0.9 if step < 50 else 0.1 for step in steps)
    others = [*finished, TrialView("fell", RewardCurve(steps, rose_and_fell, 100), state="finished")]
    decision = decide(TrialView("trial", curve(upto=40)), others, EVERY)
    assert decision.incumbent_key == "end-0.8" and not decision.stop


def test_more_caution_never_stops_earlier(curve, finished):
    for seed in range(20):
        own = curve(end=0.4 + 0.02 * seed, seed=seed, noise=0.05)
        bold, careful = (reasons(own, finished, replace(EVERY, caution=caution)) for caution in (0.3, 1.5))
        stop = [next((step for step, reason in found.items() if reason.stops), 999) for found in (bold, careful)]
        assert stop[0] <= stop[1]


@given(end=st.floats(0.1, 1.0), tau=st.floats(0.05, 1.0), upto=st.sampled_from([10, 20, 25, 50, 80]))
@settings(max_examples=40, deadline=None)
def test_minimise_mirrors_maximise(end, tau, upto):
    import numpy as np

    def view(key, end, tau, upto, state, sign):
        x = np.arange(1, 101) / 100
        y = end - (end - 0.2) * np.exp(-x / tau) + np.random.default_rng(1).normal(0, 0.02, 100)
        return TrialView(key, RewardCurve(tuple(range(1, 101)), tuple(map(float, sign * y)), 100).head(upto), (), state)

    def case(sign, direction):
        others = [view(str(e), e, 0.3, 100, "finished", sign) for e in (0.5, 0.7, 0.8)]
        return decide(
            view("t", end, tau, upto, "running", sign), others, PruneRule(direction=direction, collapse=False)
        )

    up, down = case(1.0, "maximize"), case(-1.0, "minimize")
    assert up.reason is down.reason
    assert up.margin == pytest.approx(down.margin, abs=1e-9)
    assert up.incumbent == pytest.approx(-down.incumbent)
    assert up.forecast.mean == pytest.approx(-down.forecast.mean)


def evaluations(means: list[float], every: int = 10) -> tuple[Evaluation, ...]:
    prompts = tuple(f"p{i}" for i in range(100))
    rows = [tuple(float(i < 100 * mean) for i in range(100)) for mean in means]
    return tuple(Evaluation(every * i, row, prompts, "d") for i, row in enumerate(rows))


def test_the_evaluation_curve_is_judged_where_the_rule_says_so(curve):
    """Training reward looks better than the incumbent's, held-out evaluation is worse."""
    rule = PruneRule(metric="eval_reward")
    rising = [0.2 + 0.03 * i for i in range(21)]
    best = TrialView("best", RewardCurve((1,), (0.1,), 200), evaluations(rising), "finished")
    flat = evaluations([0.2 + 0.001 * i for i in range(9)])
    own = TrialView("own", RewardCurve((1,), (0.9,), 200), flat)
    decision = decide(own, [best], rule)
    assert (decision.reason, decision.step) == (R.HOPELESS, 80) or not decision.stop
    stops = [decide(replace(own, evaluations=flat[:m]), [best], rule) for m in range(1, 10)]
    assert any(d.reason is R.HOPELESS for d in stops)
    assert not any(d.stop for d in (decide(replace(own, evaluations=flat[:m]), [best], rule) for m in range(1, 3)))


@pytest.mark.parametrize(
    ("own", "reason"),
    [
        (RewardCurve((), (), 100), R.TOO_FEW_POINTS),
        (RewardCurve((10, 20), (0.1, 0.1), 100), R.TOO_FEW_POINTS),
        (RewardCurve(tuple(range(20)), (0.1,) * 20), R.NO_HORIZON),
        (RewardCurve(tuple(range(1, 22)), (0.1,) * 21, 100), R.NOT_A_CHECK),
    ],
)
def test_doubt_never_prunes(own, reason, finished):
    assert decide(TrialView("trial", own), finished).reason is reason


def test_a_decision_is_small_readable_json(curve, finished):
    decision = decide(TrialView("trial", curve(end=0.25, upto=20)), finished)
    text = json.dumps(decision.as_attribute(), allow_nan=False)
    assert len(text) < 1000
    assert decision.as_attribute()["reason"] == "hopeless" and decision.as_attribute()["stop"] is True
    assert decision.sentence.startswith("stopped at step 20: even a hopeful forecast does not reach the incumbent")
    assert "of end-0.8" in decision.sentence and "forecast" in decision.sentence
    assert decision.margin < 0 and decision.forecast.calibration == "siblings"


def test_the_order_of_the_others_changes_nothing(curve, finished):
    own = TrialView("trial", curve(end=0.5, upto=30))
    assert decide(own, finished) == decide(own, finished[::-1])
