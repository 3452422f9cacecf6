"""How a run can end before its last step: asked to, preempted, orphaned, by an error."""

import signal
import subprocess
import sys

import pytest

from tests.processes import PATIENCE, wait_until

ENDLESS = ("grpo.max_steps=100000", "checkpoints.every=100000", "evaluation.every=100000")

REWARDS = """
def raises(prompts, completions, **_):
    return [1 / 0 for _ in prompts]

def gives_nan(prompts, completions, **_):
    return [float("nan")] * len(prompts)

def sometimes_none(prompts, completions, **_):
    return [None if "1" in text else 1.0 for text in completions]
"""


@pytest.mark.parametrize(("reason", "evaluated"), [("plateau", True), ("hopeless", False)])
def test_a_stop_request_is_obeyed_at_the_next_step(runs, look, reason, evaluated):
    folder = runs.make(f"stop-{reason}", *ENDLESS)
    process = runs.start(folder)
    look.until(folder, "step", 3, process)
    folder.request_stop(reason, "because")
    seen = look.lines(folder, "step")[-1]["step"]
    assert process.wait(timeout=PATIENCE) == 0
    result = look.result(folder)
    assert (result["reason"], result["stop"]) == ("stopped", {"reason": reason, "message": "because"})
    # The step that was under way and the one that sees the request.
    assert result["step"] - seen <= 2
    assert result["last_checkpoint"]["step"] == result["step"] == look.lines(folder, "step")[-1]["step"]
    assert (look.lines(folder, "evaluation")[-1]["step"] == result["step"]) is evaluated


def test_a_request_that_is_there_before_the_first_step_stops_there(runs, look):
    folder = runs.make("stop-early", *ENDLESS)
    folder.request_stop("cancelled", "changed my mind")
    result = runs.finish(folder)
    assert (result["reason"], result["stop"]["reason"], result["step"]) == ("stopped", "cancelled", 0)
    assert look.lines(folder, "step") == []


@pytest.mark.parametrize("stop", [None, "cancelled"])
def test_sigterm_saves_and_a_reason_that_was_there_wins(runs, look, stop):
    folder = runs.make(f"term-{stop}", *ENDLESS)
    process = runs.start(folder)
    look.until(folder, "step", 2, process)
    process.send_signal(signal.SIGINT)  # the terminal's Ctrl-C is the supervisor's business
    look.until(folder, "step", look.lines(folder, "step")[-1]["step"] + 2, process)
    process.send_signal(signal.SIGSTOP)
    if stop:
        folder.request_stop(stop, "by the user")
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)
    assert process.wait(timeout=PATIENCE) == 0
    result = look.result(folder)
    assert (result["reason"], result["stop"]["reason"]) == ("stopped", stop or "preempted")
    assert (folder.path / result["last_checkpoint"]["path"] / "optimizer.pt").is_file()
    assert result["last_checkpoint"]["step"] == result["step"] > 0


def test_sigterm_before_the_first_step_ends_at_once(runs, look):
    folder = runs.make("term-early", *ENDLESS)
    process = runs.start(folder)
    wait_until(lambda: look.lines(folder, "start"), process=process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=PATIENCE) == 0
    assert (look.result(folder)["stop"]["reason"], look.result(folder)["step"]) == ("preempted", 0)


def test_a_trainer_whose_supervisor_is_gone_saves_and_ends(runs, look):
    supervisor = subprocess.Popen(["sleep", "600"])
    folder = runs.make("orphan", *ENDLESS, supervisor=supervisor.pid)
    process = runs.start(folder)
    look.until(folder, "step", 2, process)
    look.kill(supervisor)
    assert process.wait(timeout=PATIENCE) == 0
    result = look.result(folder)
    assert result["stop"] == {"reason": "preempted", "message": f"the supervisor (process {supervisor.pid}) is gone"}
    assert result["last_checkpoint"]["step"] == result["step"]


@pytest.mark.skipif(sys.platform != "linux", reason="the death signal is Linux's")
def test_a_trainer_gets_the_kernels_signal_when_its_parent_is_killed(runs, look):
    folder = runs.make("death-signal", *ENDLESS)  # its supervisor, this process, lives on
    code = "import subprocess, sys; subprocess.run([sys.executable, '-m', 'grpo_ops.training', sys.argv[1]])"
    parent = subprocess.Popen([sys.executable, "-c", code, str(folder.path)], env=runs.environment)
    look.until(folder, "step", 2, parent)
    look.kill(parent)
    wait_until(folder.result.exists)
    assert look.result(folder)["stop"] == {"reason": "preempted", "message": "SIGTERM"}
    assert look.result(folder)["last_checkpoint"]["step"] == look.result(folder)["step"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("raises", "RewardError: reward 'raises' raised ZeroDivisionError: division by zero; completion: '"),
        ("gives_nan", "RewardError: reward 'gives_nan' returned nan; completion: '"),
    ],
)
def test_what_is_not_a_reward_fails_the_run(runs, look, name, message):
    (runs.root / "house.py").write_text(REWARDS)
    folder = runs.make(f"reward-{name}", f"rewards=[{{name='house:{name}'}}]", allow_import_paths=True)
    result = runs.finish(folder, code=1)
    assert result["reason"] == "failed"
    assert result["message"].startswith(message)
    assert look.lines(folder, "end")[-1]["message"] == result["message"]
    assert "Traceback (most recent call last)" in folder.log.read_text()


def test_none_does_not_apply_and_is_counted(runs, look):
    (runs.root / "house.py").write_text(REWARDS)
    settings = ("rewards=[{name='house:sometimes_none'}, {name='exact_match'}]", "grpo.max_steps=3")
    folder = runs.make("none", *settings, allow_import_paths=True)
    runs.finish(folder)
    assert any("rewards/sometimes_none/unscored" in entry["metrics"] for entry in look.lines(folder, "step"))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("rewards=[{name='os:getpid'}]", "TaskError: the reward 'os:getpid' is an import path, which only a local"),
        ("model.id='./nowhere'", "TrainingError: the model './nowhere' cannot be loaded: there is no such folder"),
        (
            "model.id='starter:chess-xs'",
            "TaskError: there is no starter task 'chess'; known: arith, rotate, sort, spell",
        ),
    ],
)
def test_what_cannot_be_had_fails_with_one_sentence(runs, setting, message):
    settings = [setting, "task.source=reasoning_gym", "task.name=chain_sum"]
    result = runs.finish(runs.make(f"missing-{abs(hash(setting))}", *settings), code=1)
    assert result["message"].startswith(message)


def test_the_trainer_knows_nothing_of_mlflow_optuna_and_prefect(runs):
    folder = runs.make("modules", "grpo.max_steps=1")
    code = (
        "import sys; from grpo_ops.training.main import main; code = main(['', sys.argv[1]])\n"
        "print(code, sorted({name.split('.')[0] for name in sys.modules} & {'mlflow', 'optuna', 'prefect', 'wandb'}))"
    )
    command = [sys.executable, "-c", code, str(folder.path)]
    done = subprocess.run(command, capture_output=True, text=True, env=runs.environment, timeout=PATIENCE)
    assert done.stdout.strip().splitlines()[-1] == "0 []", done.stderr[-2000:]


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "spec.json is missing"), ('{"attempt": 0}', "spec.json has no 'run_key'"), ("{", "is not JSON")],
)
def test_a_folder_that_is_no_run_is_refused(tmp_path, capsys, content, message):
    from grpo_ops.training.main import main

    if content is not None:
        (tmp_path / "spec.json").write_text(content)
    assert main(["", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err
