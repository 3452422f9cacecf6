"""The command line as a user meets it: real processes, their output and their exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grpo_ops.specs import RunSpec, load_spec

ROOT = Path(__file__).parents[2]
RUN = "deployments/runs/demo.toml"
HEAVY = ("torch", "mlflow", "optuna", "prefect", "scipy", "numpy", "transformers", "trl", "pandas", "matplotlib")


def grpo_ops(*arguments, home, **environment):
    command = [sys.executable, "-c", "from grpo_ops.cli.main import run; run()", *arguments]
    environment = os.environ | {"GRPO_OPS_HOME": str(home), "COLUMNS": "120"} | environment
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("arguments", [["--help"], ["sweep", "--help"], ["spec", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    code = (
        "import sys\nfrom grpo_ops.cli.main import run\nsys.argv = ['grpo-ops', *{!r}]\n"
        "try:\n    run()\nexcept SystemExit as end:\n    assert not end.code\n"
        "print('HEAVY', [name for name in {!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code.format(arguments, HEAVY)], capture_output=True, text=True, check=True
    )
    assert "HEAVY []" in done.stdout
    assert "Usage" in done.stdout


def test_import_grpo_ops_is_nearly_free():
    code = f"import sys, grpo_ops; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_spec_faults_are_listed_and_nothing_is_made(tmp_path):
    done = grpo_ops(
        "train", RUN, "--set", "grpo.learning_rat=1", "--set", "grpo.num_generations=7", home=tmp_path / "h"
    )
    assert done.returncode == 2
    assert "2 faults" in done.stderr
    assert "did you mean 'learning_rate'?" in done.stderr
    assert "valid here: 2, 4, 8, 16, 32, 64" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "h").exists()


def test_spec_check_needs_no_model(tmp_path):
    done = grpo_ops("spec", "check", RUN, home=tmp_path)
    assert done.returncode == 0, done.stderr
    first, *ends = done.stdout.strip().splitlines()
    assert first == f"{RUN}: a valid RunSpec"
    assert ends == ["pad: 0 '<pad>'", "eos: 2 '</s>'", "end of turn: 2 '</s>'"]
    assert not list(tmp_path.rglob("*.safetensors"))


def test_spec_check_as_json_is_the_spec_again(tmp_path):
    done = grpo_ops("spec", "check", RUN, "--json", home=tmp_path)
    assert RunSpec.model_validate_json(done.stdout) == load_spec(RunSpec, ROOT / RUN)
    assert done.stderr.splitlines() == ["pad: 0 '<pad>'", "eos: 2 '</s>'", "end of turn: 2 '</s>'"]


@pytest.mark.parametrize(
    ("settings", "sentences"),
    [
        (["task.name=nonsense"], ["task: there is no starter task 'nonsense'"]),
        (["rewards=[{name='nonsense'}]"], ["rewards.0:", "'nonsense'", "reasoning_gym"]),
        (["grpo.max_completion_length=250"], ["prompts are longer than 6 tokens", "window of 256"]),
        (["evaluation.prompts=100000"], ["task: ", "ask for fewer"]),
        (["task={source='jsonl', path='missing.jsonl'}"], ["task: ", "missing.jsonl"]),
        (
            ["model.id=./no-such-folder", "task={source='reasoning_gym', name='chain_sum'}"],
            ["model.id: './no-such-folder'"],
        ),
    ],
)
def test_what_the_task_and_the_tokenizer_show_is_refused(tmp_path, settings, sentences):
    options = [part for setting in settings for part in ("--set", setting)]
    done = grpo_ops("spec", "check", RUN, *options, home=tmp_path, HF_HUB_OFFLINE="1")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    for sentence in sentences:
        assert sentence in done.stderr


def test_an_overlapping_evaluation_set_is_refused(tmp_path):
    rows = [json.dumps({"prompt": f"What is {n} + 1?", "answer": str(n + 1)}) + "\n" for n in range(40)]
    (tmp_path / "train.jsonl").write_text("".join(rows))
    (tmp_path / "eval.jsonl").write_text("".join(rows[20:]))
    task = f"task={{source='jsonl', path='{tmp_path}/train.jsonl', eval_path='{tmp_path}/eval.jsonl'}}"
    settings = ["--set", task, "--set", "evaluation.prompts=8", "--set", "rewards=[{name='exact_match'}]"]
    done = grpo_ops("spec", "check", RUN, *settings, home=tmp_path)
    assert done.returncode == 2
    assert "evaluation prompts are training prompts as well" in done.stderr


@pytest.mark.parametrize("kind", ["run", "sweep", "promotion"])
def test_schemas_are_json(tmp_path, kind):
    schema = json.loads(grpo_ops("spec", "schema", kind, home=tmp_path).stdout)
    assert schema["additionalProperties"] is False


def test_unknown_schema_is_a_sentence(tmp_path):
    done = grpo_ops("spec", "schema", "runs", home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "known: run, sweep, promotion" in done.stderr


def test_a_missing_extra_is_named(tmp_path):
    """A finder that hides torch stands for an environment without the extra."""
    code = (
        "import sys, importlib.util as util\nfind = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'torch' else find(name, *rest)\n"
        f"from grpo_ops.cli.main import run\nsys.argv = ['grpo-ops', 'train', {RUN!r}]\nrun()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0
    assert "pip install 'grpo-ops[train]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_forecast_of_a_csv(tmp_path):
    rows = [f"{step},{0.2 + 0.6 * (1 - 2.718 ** (-step / 20)):.4f}" for step in range(1, 61)]
    (tmp_path / "curve.csv").write_text("\n".join(["step,reward", *rows]))
    done = grpo_ops("forecast", str(tmp_path / "curve.csv"), "--horizon", "100", "--json", home=tmp_path)
    found = json.loads(done.stdout)
    assert found["low"] < 0.8 < found["high"]
    assert (found["step"], found["horizon"], found["level"]) == (60, 100, 0.8)
    text = grpo_ops("forecast", str(tmp_path / "curve.csv"), "--plot", str(tmp_path / "p.png"), home=tmp_path)
    assert text.returncode == 0, text.stderr
    assert (tmp_path / "p.png").stat().st_size > 5000


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", "step,reward\n1,x\n", "\x00\x01"])
def test_what_is_no_curve_is_refused_in_one_sentence(tmp_path, content):
    (tmp_path / "curve.csv").write_text(content)
    done = grpo_ops("forecast", str(tmp_path / "curve.csv"), home=tmp_path)
    assert done.returncode == 2
    assert "curve.csv" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
