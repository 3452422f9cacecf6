"""Two ranks on the CPU (gloo): they leave together, one of them speaks, and nothing is left of either."""

import os
import signal
from pathlib import Path

import psutil
import pytest
from safetensors.torch import load_file

from grpo_ops.journal import RunFolder
from grpo_ops.processes import trainers_in
from grpo_ops.specs import LaunchSpec
from grpo_ops.training.launch import LAUNCHED, launch_command, launch_environment
from tests.processes import PATIENCE, wait_until

TWO = ("launch.processes=2", "grpo.per_device_train_batch_size=8")
ENDLESS = ("grpo.max_steps=100000", "checkpoints.every=100000", "evaluation.every=100000")

FAILS_ON_RANK_1 = """
import os

def fails_on_rank_1(prompts, completions, trainer_state, **_):
    if os.environ["RANK"] == "1" and trainer_state is not None and trainer_state.global_step >= 2:
        raise ValueError("this rank alone has a bad day")
    return [float(len(text)) for text in completions]
"""


def ranks_of(folder: RunFolder) -> list[psutil.Process]:
    return [process for process in trainers_in(folder) if "RANK" in process.environ()]


def steps(look, folder):
    return [entry["step"] for entry in look.lines(folder, "step")]


def test_a_stop_ends_both_ranks_at_the_same_step(runs, look):
    """Row A7: one journal, whatever the number of ranks."""
    folder = runs.make("two-stop", *TWO, *ENDLESS)
    process = runs.start(folder)
    look.until(folder, "step", 3, process)
    assert len(ranks_of(folder)) == 2
    folder.request_stop("hopeless", "because")
    assert process.wait(timeout=PATIENCE) == 0, folder.log.read_text()[-3000:]
    result = look.result(folder)
    assert (result["reason"], result["stop"]["reason"]) == ("stopped", "hopeless")
    assert steps(look, folder) == list(range(1, result["step"] + 1))
    assert len(look.lines(folder, "start")) == len(look.lines(folder, "end")) == 1
    assert trainers_in(folder) == []


def test_sigterm_saves_on_both_ranks_and_the_next_start_goes_on(runs, look):
    settings = (*TWO, "checkpoints.every=100000", "evaluation.every=4")
    folder = runs.make("two-term", *settings, "grpo.max_steps=100000")
    process = runs.start(folder)
    look.until(folder, "step", 2, process)
    process.terminate()
    process.wait(timeout=PATIENCE)
    result = look.result(folder)
    assert (result["reason"], result["stop"]["reason"]) == ("stopped", "preempted"), folder.log.read_text()[-3000:]
    reached = result["step"]
    assert result["last_checkpoint"]["step"] == reached
    wait_until(lambda: trainers_in(folder) == [])
    last = reached + 4 - reached % 4
    result = runs.finish(runs.make("two-term", *settings, f"grpo.max_steps={last}", attempt=1))
    assert (result["reason"], result["step"]) == ("finished", last)
    assert steps(look, folder) == list(range(1, last + 1))
    best = max(look.lines(folder, "checkpoint"), key=lambda entry: (entry["role"] == "best", entry["step"]))
    assert (folder.path / best["path"] / "adapter_config.json").is_file()
    whole, resumed = (
        load_file(folder.path / entry["path"] / "adapter_model.safetensors")
        for entry in (best, look.lines(folder, "checkpoint")[-1])
    )
    assert whole.keys() == resumed.keys()


def test_what_a_later_rank_fails_of_is_the_runs_reason(runs, look):
    (runs.root / "rank_rewards.py").write_text(FAILS_ON_RANK_1)
    rewards = 'rewards=[{name="rank_rewards:fails_on_rank_1"}]'
    folder = runs.make("two-fail", *TWO, *ENDLESS, rewards, allow_import_paths=True)
    process = runs.start(folder)
    assert process.wait(timeout=PATIENCE) != 0
    result = look.result(folder)
    assert result["reason"] == "failed"
    assert "bad day" in result["message"] and result["message"].endswith("(on rank 1)")
    wait_until(lambda: trainers_in(folder) == [])


def test_a_killed_rank_ends_the_run(runs, look):
    folder = runs.make("two-kill", *TWO, *ENDLESS)
    process = runs.start(folder)
    look.until(folder, "step", 2, process)
    second = next(rank for rank in ranks_of(folder) if rank.environ()["RANK"] == "1")
    second.send_signal(signal.SIGKILL)
    assert process.wait(timeout=PATIENCE) != 0
    wait_until(lambda: trainers_in(folder) == [])


@pytest.mark.parametrize(
    ("launch", "expected"),
    [
        (LaunchSpec(processes=4), {"num_processes": 4, "multi_gpu": True, "config_file": None}),
        (
            LaunchSpec(processes=2, accelerate_config="fsdp.yaml"),
            {"num_processes": 2, "multi_gpu": False, "config_file": "fsdp.yaml"},
        ),
    ],
)
def test_on_gpus_accelerate_reads_what_we_write(launch, expected):
    from accelerate.commands.launch import launch_command_parser

    command = launch_command(RunFolder(Path("run")), launch, on_gpu=True)
    read = vars(launch_command_parser().parse_args(command[3:]))
    assert command[1:3] == ["-m", "accelerate.commands.launch"]
    assert read["module"] and [read["training_script"], *read["training_script_args"]] == ["grpo_ops.training", "run"]
    assert {name: read[name] for name in expected} == expected


def test_ranks_share_the_threads_of_one_process():
    folder = RunFolder(Path("run"))
    found = launch_environment(folder, LaunchSpec(processes=2), False, {"OMP_NUM_THREADS": "8", "HOME": "here"})
    assert (found["OMP_NUM_THREADS"], found["HOME"], found[LAUNCHED]) == ("4", "here", "run")
    assert found["ACCELERATE_USE_CPU"] == "true"
    assert "ACCELERATE_USE_CPU" not in launch_environment(folder, LaunchSpec(processes=2), True, dict(os.environ))
