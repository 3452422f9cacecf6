"""Points drawn ahead, and which of them is next."""

import optuna
import pytest

from grpo_ops.ending import Ending
from grpo_ops.sweep.board import Row
from grpo_ops.sweep.queue import known_runs, queue_most_promising, waiting_points
from grpo_ops.sweep.samplers import make_sampler
from grpo_ops.sweep.space import suggest
from tests.sweep.sweep_process import spec_with

RATE = "grpo.learning_rate"


def row(number, rate, evaluation, **more):
    given = {"ending": Ending.FINISHED, "evaluation": evaluation, "judged": (0.2, evaluation)} | more
    return Row(f"run-{number}", number, {RATE: rate}, 60, **given)


def begun(study, spec, rows, wanted):
    """Queue the next point and ask for it, as the sweep does."""
    queue_most_promising(study, spec, rows, wanted)
    trial = study.ask()
    return trial, suggest(trial, spec)


def opened(spec):
    return optuna.create_study(direction="maximize", sampler=make_sampler(spec, 0))


@pytest.mark.parametrize("name", ["random", "qmc", "tpe"])
def test_without_results_points_come_as_they_were_drawn(name):
    spec = spec_with(f"sampler={name}", "trials=5", "queue=5")
    study = opened(spec)
    _, first = begun(study, spec, [], 5)
    rest, drawn = waiting_points(study)
    assert (len(rest), drawn) == (4, 5)
    assert [begun(study, spec, [], 4 - n)[1] for n in range(4)] == rest
    assert len({str(point) for point in (first, *rest)}) == 5
    assert waiting_points(study) == ([], 5)


def test_the_point_with_the_best_prospects_is_next():
    spec = spec_with("sampler=random", "trials=12", "queue=12")
    study = opened(spec)
    rows = [row(0, 1e-6, 0.2), row(1, 1e-5, 0.35), row(2, 1e-4, 0.5)]
    _, first = begun(study, spec, rows, 12)
    _, last = [begun(study, spec, rows, 11 - n)[1] for n in range(11)][0::10]
    assert 2e-5 < first[RATE] < 1e-3
    assert last[RATE] < 3e-6


def test_a_queue_is_topped_up_but_never_beyond_what_is_wanted():
    spec = spec_with("sampler=random", "trials=9", "queue=3")
    study = opened(spec)
    sizes = []
    for wanted in range(9, 0, -1):
        begun(study, spec, [], wanted)
        sizes.append(len(waiting_points(study)[0]))
    assert sizes == [2] * 7 + [1, 0]
    assert waiting_points(study)[1] == 9
    assert len({trial.params[RATE] for trial in study.trials}) == 9


def test_a_queue_survives_its_process():
    """Killed after the chosen point was queued and before it was taken off the list: it is tried once."""
    spec = spec_with("sampler=random", "trials=4", "queue=4")
    study = opened(spec)
    begun(study, spec, [], 4)
    rest, drawn = waiting_points(study)
    study.enqueue_trial(rest[0], user_attrs={"grpo_ops.point": rest[0]})
    assert waiting_points(study) == (rest[1:], drawn)
    assert begun(study, spec, [], 3)[1] == rest[0]
    assert begun(study, spec, [], 2)[1] == rest[1]


def test_what_waits_already_goes_first_and_no_queue_changes_nothing():
    spec = spec_with("sampler=random", "trials=4", "queue=4")
    study = opened(spec)
    study.enqueue_trial({RATE: 5e-4})
    assert begun(study, spec, [], 4)[1] == {RATE: 5e-4}
    plain = opened(spec_with("queue=0"))
    queue_most_promising(plain, spec_with("queue=0"), [], 4)
    assert not plain.trials


def test_a_grid_is_drawn_ahead_without_what_was_tried():
    spec = spec_with('space={"seed"={low=1,high=4}}', "sampler=grid", "trials=4", "queue=4")
    study = opened(spec)
    study.enqueue_trial({"seed": 2})
    trial = study.ask()
    suggest(trial, spec)
    points = [begun(study, spec, [], 3 - n)[1]["seed"] for n in range(3)]
    assert sorted(points) == [1, 3, 4]


def test_stopped_runs_count_by_their_forecast_and_none_below_the_start():
    stopped = row(1, 1e-5, 0.3, ending=Ending.HOPELESS, forecast=0.5, low=0.4, high=0.6)
    fallen = row(2, 1e-3, 0.01)
    found = known_runs([row(0, 1e-4, 0.6), stopped, fallen, row(3, 1e-4, None)], "eval_reward")
    assert [run.final for run in found] == [0.6, 0.5, 0.2]
    assert [run.error for run in found] == [0.0, pytest.approx(0.1 / 1.2816, rel=1e-3), 0.0]
    assert known_runs([row(0, 1e-4, 0.6, reward=0.7)], "reward")[0].final == 0.7
