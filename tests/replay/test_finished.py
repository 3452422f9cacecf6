"""Trials that were ended early are left out of replay and backtest, and it is said."""

from dataclasses import replace

import pytest

from grpo_ops.errors import CurveError
from grpo_ops.replay import Sweep, backtest
from grpo_ops.replay.finished import only_finished

ENDINGS = ("finished", "hopeless", None, "plateau", "finished", "hopeless", "finished", "finished")
WHY = "they were ended early (2 hopeless, 1 plateau), and how they would have gone on is not known"
NOTE = f"3 of 8 trials left out: {WHY}"


def test_only_trials_that_ran_to_their_end_are_kept(source):
    found = only_finished(replace(source, endings=ENDINGS))
    assert found.names == ("t0", "t2", "t4", "t6", "t7")
    assert [curve.rewards for curve in found.curves] == [source.curves[place].rewards for place in (0, 2, 4, 6, 7)]
    assert found.outcomes == tuple(source.outcomes[place] for place in (0, 2, 4, 6, 7))
    assert (len(found.params), len(found.evaluations), found.notes) == (5, 5, (NOTE,))
    assert only_finished(found) == found


def test_a_sweep_that_says_no_endings_is_whole(source):
    assert only_finished(source) is source
    assert only_finished(replace(source, endings=(None,) * 8)).notes == ()


def test_a_replay_says_which_trials_it_left_out(source):
    sweep = Sweep.of(replace(source, endings=ENDINGS))
    assert ([trial.name for trial in sweep.trials], sweep.notes) == (["t0", "t2", "t4", "t6", "t7"], (NOTE,))


def test_a_backtest_is_of_the_others(source):
    kept = (0, 2, 4, 6, 7)
    names = ("curves", "params", "names", "evaluations", "outcomes")
    alone = replace(source, **{name: tuple(getattr(source, name)[place] for place in kept) for name in names})
    assert backtest([replace(source, endings=ENDINGS)]) == backtest([alone])


def test_a_sweep_of_which_too_few_trials_finished_is_refused(source):
    with pytest.raises(CurveError, match=r"no trial of made ran to its end \(8 hopeless\)"):
        only_finished(replace(source, endings=("hopeless",) * 8))
    few = replace(source, endings=("finished", "finished", *("hopeless",) * 6))
    with pytest.raises(CurveError, match=r"at least 3 trials; 6 of 8 trials left out: they were ended early"):
        Sweep.of(few)
