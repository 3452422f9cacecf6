"""The examples run as a user would run them, and are as short as they claim."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.processes import PATIENCE

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples/prune_my_own_study.py"


def test_a_study_of_ones_own_is_pruned(tmp_path):
    """Real GRPO of a tiny model at eight learning rates; nothing is downloaded."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(EXAMPLE)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr[-3000:]
    finished = re.findall(r"Trial \d+ finished with value: (\S+)", done.stderr)
    pruned = re.findall(r"Trial \d+ pruned", done.stderr)
    assert len(finished) + len(pruned) == 8
    assert pruned
    assert max(map(float, finished)) > 0.5  # a model that knows nothing says 7 in a tenth of its words


def test_it_has_25_lines_of_code_and_of_ours_the_pruner_alone():
    text = EXAMPLE.read_text()
    documentation = ast.get_docstring(ast.parse(text), clean=False)
    code = [line for line in text.replace(documentation, "").splitlines() if line.strip(' "')]
    assert len(code) <= 25
    assert re.findall(r"(?m)^.*grpo_ops.*$", text) == ["from grpo_ops.pruning import LawPruner"]
