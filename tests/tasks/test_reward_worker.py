"""Rewards in a worker process: what they give, what a call that blocks costs, what the trainer hears of it."""

import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import psutil
import pytest

from grpo_ops.errors import RewardError
from grpo_ops.specs import EvaluationSpec, RewardSpec, TaskSpec
from grpo_ops.tasks import Task, load_rewards, load_task
from tests.processes import wait_until

HERE = "tests.tasks.worker_rewards"
NO_TASK = Task((), ())
LONG = 120.0


@pytest.fixture
def named():
    """Loads one reward by its path; its process is ended with the test."""
    loaded = []

    def load(name, task=NO_TASK, **settings):
        path = name if name in ("math_verify", "reasoning_gym") else f"{HERE}:{name}"
        settings = {"timeout_seconds": LONG, **settings}
        loaded.extend(load_rewards([RewardSpec(name=path, **settings)], task, allow_import_paths=True))
        return loaded[-1]

    yield load
    for reward in loaded:
        reward.stop()


def log_into(logged):
    return lambda name, value: logged.append((name, value))


def test_a_worker_gives_what_the_trainers_own_process_gives(named):
    """The process that answers is another one, and the same at every call."""
    texts = ["", "a", "none", "bb"]
    apart, here = named("length", config={"plus": 1}), named("length", config={"plus": 1}, timeout_seconds=0)
    assert apart(["?"] * 4, texts) == here(["?"] * 4, texts) == [1.0, 2.0, None, 3.0]
    pids = {named_pid for _ in range(2) for named_pid in named("pid")(["?"], ["a"])}
    assert os.getpid() not in pids
    once = named("pid")
    assert once(["?"], ["a"]) == once(["?"], ["b"])


def test_what_trl_passes_besides_the_columns_arrives_and_comes_back(named):
    metrics, extras = [], []
    state = SimpleNamespace(global_step=7, log_history=[{"loss": 1.0}], callbacks=object())
    values = named("uses_trl")(
        ["?"] * 2,
        ["a", "b"],
        trainer_state=state,
        log_metric=log_into(metrics),
        log_extra=lambda column, values: extras.append((column, values)),
    )
    assert values == [7.0, 7.0]
    assert metrics == [("seen", 2)]
    assert extras == [("text", ["a", "b"])]


def test_math_verify_is_right_in_a_worker(named):
    """There it has its main thread, and with it its own time limit."""
    answers = ["0.5", "0.5", "no mathematics"]
    assert named("math_verify")(["?"] * 3, ["\\boxed{\\frac{1}{2}}", "3", "3"], answer=answers) == [1.0, 0.0, None]


def test_a_tasks_own_scorer_is_taken_along(named):
    task = load_task(TaskSpec(source="reasoning_gym", name="chain_sum", train_size=4), EvaluationSpec(prompts=4))
    row = task.train[0]
    columns = {"answer": [row.answer] * 2, "metadata": [row.columns["metadata"]] * 2}
    assert named("reasoning_gym", task)([row.prompt] * 2, [row.answer, "none"], **columns) == [1.0, 0.0]


def test_row_c14_a_call_that_blocks_is_none_and_counted(named):
    """Row C14: a reward that blocks for 60 s. The whole batch is None; the next call is answered by a new process."""
    logged = []
    reward = named("blocks", timeout_seconds=3)
    assert reward(["?"] * 3, ["a", "block", "b"], log_metric=log_into(logged)) == [None] * 3
    counts = {"rewards/blocks/unscored": 3, "rewards/blocks/timeouts": 3, "rewards/unscorable": 3}
    assert (dict(logged), reward.timeouts, reward.unscored) == (counts, 3, 3)
    reward._worker.seconds = LONG
    assert reward(["?"] * 2, ["a", "bb"]) == [1.0, 2.0]


def test_row_c14_one_by_one_only_the_completion_that_blocks_is_none(named):
    """Row C14: for a reward that looks at each completion alone, the others keep their values."""
    logged = []
    reward = named("blocks", timeout_seconds=6, one_by_one=True)
    values = reward(["?"] * 2, ["block", "bb"], index=[0, 1], log_metric=log_into(logged))
    assert values == [None, 2.0]
    assert dict(logged)["rewards/blocks/timeouts"] == 1


def test_a_regular_expression_that_does_not_return_is_ended(named):
    """It holds the interpreter's lock: no thread and no signal handler could end it."""
    assert named("backtracks", timeout_seconds=3)(["?"], ["a" * 64 + "!"]) == [None]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("raises", r"^reward 'raises' raised ValueError: 'no key'; completion: 'bad'$"),
        ("too_few", r"^reward 'too_few' returned 1 rewards for 2 completions; completion: 'good'$"),
        ("leaves", r"^the process of reward 'leaves' ended by itself, with exit code 3$"),
    ],
)
def test_an_error_in_the_worker_is_an_error_here(named, name, message):
    """Row C22 among them: G - 1 values for G completions."""
    with pytest.raises(RewardError, match=message):
        named(name)(["?"] * 2, ["good", "bad"])


def test_columns_that_cannot_be_sent_are_named_with_the_way_out(named):
    with pytest.raises(RewardError, match=r"cannot be called in a process of its own .*timeout_seconds to 0"):
        named("length")(["?"], ["a"], environments=[lambda: None])


def test_a_partial_and_an_object_are_named_by_their_path(named):
    """Row A11: the names hold no memory address, so that two runs agree."""
    partial, thing, anonymous = named("partial"), named("thing"), named("anonymous")
    assert [reward.__name__ for reward in (partial, thing, anonymous)] == ["partial", "thing", "anonymous"]
    assert [reward.source for reward in (partial, thing, anonymous)] == [
        f"{HERE}:{name}" for name in ("partial", "thing", "anonymous")
    ]
    assert partial(["?"], ["abc"]) == thing(["?"], ["abc"]) == anonymous(["?"], ["abc"]) == [3.0]


def test_signals_for_the_trainer_leave_the_worker_alone_and_what_it_prints_stays_out_of_stdout(named, capfd):
    reward = named("prints_pid")
    (pid,) = reward(["?"], ["a"])
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(int(pid), number)
    assert reward(["?"], ["a"]) == [pid]
    assert capfd.readouterr().out == ""


TRAINER = """
import sys, time
from grpo_ops.specs import RewardSpec
from grpo_ops.tasks import Task, load_rewards
(reward,) = load_rewards([RewardSpec(name="tests.tasks.worker_rewards:pid")], Task((), ()), allow_import_paths=True)
print(int(reward(["?"], ["a"])[0]), flush=True)
time.sleep(600)
"""


def test_a_worker_ends_with_a_trainer_that_is_killed():
    trainer = subprocess.Popen([sys.executable, "-c", TRAINER], stdout=subprocess.PIPE)
    pid = int(trainer.stdout.readline())
    assert psutil.pid_exists(pid)
    trainer.kill()
    trainer.wait()
    wait_until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


def test_what_a_reward_has_started_ends_with_its_process(named, tmp_path):
    note = tmp_path / "pid"
    reward = named("starts_a_process", timeout_seconds=LONG, config={"note": str(note)})
    reward.start()
    reward._worker.seconds = 15.0
    assert reward(["?"], ["a"]) == [None]
    pid = int(note.read_text())
    deadline = time.monotonic() + 60
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.1)
