"""Prospects of runs that have not begun, from hyperparameters alone."""

import json
from pathlib import Path

import numpy as np
import pytest

from grpo_ops.law.prospects import Known, prospects

RATES = (1e-5, 1e-4, 1e-3, 1e-2)


def hill(rate):
    """A final level that is best at a learning rate of 1e-3."""
    return 0.8 - 0.2 * abs(np.log10(rate) + 3)


KNOWN = [Known({"grpo.learning_rate": rate}, hill(rate)) for rate in RATES]


def test_levels_that_are_known_are_met_and_points_between_lie_between():
    points = [{"grpo.learning_rate": rate} for rate in (*RATES, 3e-4)]
    mean, sd = prospects(KNOWN, points)
    assert mean[:4] == pytest.approx([hill(rate) for rate in RATES], abs=0.08)
    assert hill(1e-4) < mean[4] < hill(1e-3)
    assert (sd > 0).all()


def test_far_points_are_expected_in_the_middle_and_with_more_doubt():
    mean, sd = prospects(KNOWN, [{"grpo.learning_rate": 1e3}, {"grpo.learning_rate": 1e-3}])
    assert abs(mean[0] - np.mean([run.final for run in KNOWN])) < 0.1
    assert sd[0] > 2 * sd[1]


def test_choices_and_conditional_settings_count():
    params = [{"lr": 1e-3, "loss": loss, **({"x": 1.0} if loss == "b" else {})} for loss in "abab"]
    known = [Known(own, 0.5 + 0.3 * (own["loss"] == "b") + 0.01 * index) for index, own in enumerate(params)]
    mean, _ = prospects(known, [{"lr": 1e-3, "loss": "a"}, {"lr": 1e-3, "loss": "b", "x": 1.0}])
    assert mean[1] - mean[0] > 0.2


def test_an_uncertain_level_weighs_less():
    sure = [Known({"lr": 1e-4}, 0.2), Known({"lr": 1e-3}, 0.9), Known({"lr": 1e-2}, 0.2)]
    unsure = [sure[0], Known({"lr": 1e-3}, 0.9, error=0.5), sure[2]]
    assert prospects(sure, [{"lr": 1e-3}])[0][0] > prospects(unsure, [{"lr": 1e-3}])[0][0] + 0.1


@pytest.mark.parametrize(
    ("known", "mean", "sd"),
    [([], np.nan, np.nan), (KNOWN[:1], hill(1e-5), np.nan), ([KNOWN[0], KNOWN[0]], hill(1e-5), 0.0)],
)
def test_little_knowledge_ranks_nothing(known, mean, sd):
    found = prospects(known, [{"lr": 1e-4}, {"lr": 1e-2}])
    assert found[0] == pytest.approx([mean, mean], nan_ok=True)
    assert found[1] == pytest.approx([sd, sd], nan_ok=True)


def test_no_points_are_no_prospects():
    assert [len(part) for part in prospects(KNOWN, [])] == [0, 0]


def test_on_recorded_sweeps_the_order_of_prospects_is_that_of_results():
    """Each half of a sweep's trials predicts the other: rank correlation with how they ended, over three sweeps."""
    folder = Path(__file__).parents[2].parent / "shared/curves/sweeps"
    if not folder.exists():
        pytest.skip("the shared curves are not here")
    names = ("starter-max", "starter-rotate", "starter-subtract")
    assert np.mean([correlation(folder / f"{name}.json") for name in names]) > 0.4


def correlation(file):
    trials = json.loads(file.read_text())["trials"]
    levels = [last_level(file.parent / trial["evals"]) for trial in trials]
    params = [trial["params"] for trial in trials]
    found = []
    for start in (0, 1):
        known = [Known(params[index], levels[index]) for index in range(start, len(trials), 2)]
        others = range(1 - start, len(trials), 2)
        mean, _ = prospects(known, [params[index] for index in others])
        ranks = [np.argsort(np.argsort(values)) for values in (mean, [levels[index] for index in others])]
        found.append(np.corrcoef(*ranks)[0, 1])
    return np.mean(found)


def last_level(path):
    """Mean of the last three evaluations."""
    return float(np.mean([float(line.split(",")[1]) for line in path.read_text().splitlines()[-3:]]))
