"""`grpo-ops sweep FILE` as ever, and `sweep export|thaw` on a study that is there."""

import json
from pathlib import Path

import optuna
import pytest
from optuna.trial import TrialState

SPEC = str(Path(__file__).parents[2] / "deployments/sweeps/demo.toml")
STEPS = range(5, 101, 5)


@pytest.fixture
def demo(tmp_path):
    """A finished study whose run folders are elsewhere: demo-0000, six trials, one of them stopped; its storage."""
    url = f"sqlite:///{tmp_path}/study.db"
    study = optuna.create_study(study_name="demo-0000", storage=url, direction="maximize")
    for number in range(6):
        trial = study.ask()
        rate, last = trial.suggest_float("grpo.learning_rate", 1e-4, 1e-2, log=True), 100 if number else 40
        trial.set_user_attr("run_key", f"demo-0000-00{number}")
        trial.set_user_attr("grpo_ops.ending", "finished" if number else "hopeless")
        trial.set_user_attr("grpo_ops.steps", [last, 100])
        for step in STEPS:
            if step <= last:
                trial.report(0.2 + rate * step + 0.01 * (step % 3), step)
        state = TrialState.COMPLETE if number else TrialState.PRUNED
        study.tell(trial, 0.5 if number else None, state=state)
    return url


def test_an_exported_study_is_read_by_backtest(call, demo, tmp_path):
    done = call("sweep", "export", "demo-0000", "--to", tmp_path / "out", "--storage", demo)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"{tmp_path}/out/demo-0000.json: 6 trials",
        "1 of them were stopped early: where those would have ended is not known",
    ]
    read = call("backtest", tmp_path / "out/demo-0000.json", "--draws", "2", "--siblings", "3", "--json")
    assert read.exit_code == 0, read.stderr
    assert {row["source"] for row in json.loads(read.stdout)} >= {"demo-0000"}


def test_export_as_json(call, demo, tmp_path):
    done = call("sweep", "export", "demo-0000", "--to", tmp_path, "--storage", demo, "--json")
    assert json.loads(done.stdout) == {"path": f"{tmp_path}/demo-0000.json", "trials": 6, "stopped": 1}


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["sweep", "no-such.toml"], 2, "no-such.toml"),
        (["sweep", SPEC, "--set", "trials=0"], 2, "trials: input should be greater than 0"),
        (["sweep", "--set", "trials=0", SPEC], 2, "trials: input should be greater than 0"),
        (["sweep", "run", SPEC, "--set", "trials=0"], 2, "trials: input should be greater than 0"),
        (["sweep", SPEC, "--set", 'devices=["0"]', "--set", "parallel=2"], 2, "as many device sets"),
        (["sweep", SPEC, "--set", "budget={money=5}"], 2, "budget: money = 5 needs price_per_hour"),
        (["sweep", "thaw", "demo-0000"], 1, "that file does not exist"),
        (["sweep", "export", "demo-0000"], 1, "that file does not exist"),
        (["sweep", "thaw", "demo-9999", "--storage", "{url}"], 1, "there is no study 'demo-9999'"),
        (["sweep", "thaw", "demo-0000", "--storage", "{url}"], 1, "was not made by grpo-ops"),
    ],
)
def test_faults_are_one_sentence(call, demo, arguments, code, sentence):
    done = call(*[argument.replace("{url}", demo) for argument in arguments])
    assert (done.exit_code, sentence in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr
