"""What a run in MLflow says of its rewards: whether `reward` is comparable, and what could not be scored."""

import pytest

from grpo_ops.journal import Journal
from grpo_ops.tracking import open_run, open_study
from tests.tracking.test_tracker import follow
from tests.tracking.world import make_spec, tags_of, write_steps

A, B = {"name": "exact_match"}, {"name": "length", "weight": 0.5}


@pytest.mark.parametrize(
    ("rewards", "is_comparable"),
    [([A, B], True), ([B, A], True), ([A, {**B, "weight": 1.0}], False), ([A], False)],
)
def test_a_trial_that_weighs_its_rewards_otherwise_is_marked_as_not_comparable(home, rewards, is_comparable):
    study = open_study(home, "grpo-ops", "s", spec={"name": "s", "run": {"rewards": [A, B]}})
    tracker = open_run(home, make_spec(rewards=rewards), "s-000", study="s")
    own, parents = (tags_of(home.tracking_uri, run_id) for run_id in (tracker.run_id, study.run_id))
    assert (own["grpo_ops.reward_digest"] == parents["grpo_ops.reward_digest"]) is is_comparable
    assert ("grpo_ops.not_comparable" not in own) is is_comparable
    if not is_comparable:
        assert own["grpo_ops.not_comparable"].endswith("compare eval_reward")


def test_row_c4_unscorable_completions_leave_a_tag(home):
    """Row C4: counted once, also by a tracker that starts anew."""
    tracker = open_run(home, make_spec(), "k")
    with Journal(tracker.folder.journal, 0) as journal:
        follow(
            tracker,
            journal,
            lambda j: write_steps(j, [1, 2], **{"rewards/unscorable": 4}),
            lambda j: write_steps(j, [3]),
        )
    again = open_run(home, make_spec(), "k")
    again.log([])
    said = tags_of(home.tracking_uri, again.run_id)["grpo_ops.unscorable"]
    assert said == "8 completions that no reward could score"
