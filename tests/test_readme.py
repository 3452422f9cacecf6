"""What the README says is true: its script runs, its files and commands exist, LawPruner needs the base alone."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from grpo_ops.cli.app import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
BLOCK_ALL_BUT_THE_BASE = """
import sys
ABSENT = "torch mlflow prefect pydantic typer rich pyarrow matplotlib psutil".split()
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ABSENT:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Block())
"""


def python_example():
    block = re.search(r"(?m)^    import optuna\n(?:    .*\n|\n)+", README).group(0)
    return "\n".join(line[4:] for line in block.splitlines())


def test_the_pruner_example_runs_with_the_base_dependencies_alone():
    code = f"{BLOCK_ALL_BUT_THE_BASE}\n{python_example()}\nprint([trial.state.name for trial in study.trials])"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "PRUNED" in done.stdout
    assert "COMPLETE" in done.stdout


def test_the_commands_exist():
    known = get_command(app).commands
    named = set(
        re.findall(r"grpo-ops (train|plan|sweep|promote|forecast|backtest|replay|reconcile|rewards|spec)\b", README)
    )
    assert named == set(known)


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(((?!http)[^)]+)\)", README))))
def test_linked_files_exist(target):
    assert (ROOT / target).exists()


@pytest.mark.parametrize("target", sorted(set(re.findall(r"^    make ([a-z-]+)", README, re.MULTILINE))))
def test_make_targets_exist(target):
    assert re.search(rf"(?m)^{target}:", (ROOT / "Makefile").read_text())


@pytest.mark.slow
def test_the_base_package_installs_and_prunes_in_a_fresh_environment(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    install = [python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", ROOT]
    subprocess.run(install, check=True)
    installed = subprocess.run([python, "-m", "pip", "list"], capture_output=True, text=True, check=True).stdout
    assert not re.search(r"(?m)^(torch|mlflow|prefect|pydantic|typer) ", installed)
    subprocess.run([python, "-c", python_example()], check=True, capture_output=True)
    command = subprocess.run([tmp_path / "venv/bin/grpo-ops", "--help"], capture_output=True, text=True)
    assert command.returncode != 0
    assert "pip install 'grpo-ops[cli]'" in command.stderr
