"""Many processes that open a new home at once all get its storage."""

import subprocess
import sys

import pytest
from sqlalchemy.exc import IntegrityError, OperationalError

from grpo_ops.sweep.making import made_once
from tests.processes import PATIENCE
from tests.sweep.sweep_process import TESTS

OPEN = """
import sys
from pathlib import Path
from grpo_ops.home import Home
from grpo_ops.sweep.study import open_storage
from tests.sweep.sweep_process import spec_with
spec = spec_with()
print("ready", flush=True)
sys.stdin.readline()
open_storage(spec, Home(Path(sys.argv[1])))
"""


def test_processes_that_make_the_same_database_at_once(tmp_path):
    command = [sys.executable, "-c", OPEN, str(tmp_path / "home")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    opening = [subprocess.Popen(command, cwd=TESTS.parent, text=True, **pipes) for _ in range(4)]
    assert [process.stdout.readline() for process in opening] == ["ready\n"] * 4
    for process in opening:
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=PATIENCE)[1] for process in opening]
    assert [process.returncode for process in opening] == [0] * 4, said


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        (IntegrityError("INSERT", {}, Exception("UNIQUE constraint failed: alembic_version.version_num")), 2),
        (OperationalError("CREATE", {}, Exception("table studies already exists")), 2),
        (OperationalError("SELECT", {}, Exception("unable to open database file")), 1),
    ],
)
def test_only_a_race_is_tried_again(error, tries, monkeypatch):
    monkeypatch.setattr("grpo_ops.sweep.making._PAUSE_SECONDS", 0.0)
    calls = []

    def make():
        calls.append(1)
        if len(calls) == 1:
            raise error
        return "made"

    if tries == 1:
        with pytest.raises(type(error)):
            made_once(make)
    else:
        assert made_once(make) == "made"
    assert len(calls) == tries
