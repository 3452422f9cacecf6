"""What goes wrong is one sentence, an exit code, and nothing made on the way; spec faults come before heavy imports."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from grpo_ops.cli.curves import curve_of
from grpo_ops.cli.failures import one_sentence
from grpo_ops.cli.further import look_further
from grpo_ops.errors import CurveError, SweepError, TaskError
from grpo_ops.home import Home, without_password
from tests.processes import PATIENCE, as_from_a_terminal

ROOT = Path(__file__).parents[2]
RUN, SWEEP, PROMOTION = (f"deployments/{kind}/demo.toml" for kind in ("runs", "sweeps", "promotions"))
HEAVY = ("torch", "mlflow", "optuna", "numpy", "scipy", "transformers", "sqlalchemy", "reasoning_gym")


def python(code, *arguments, home, **environment):
    environment = os.environ | {"GRPO_OPS_HOME": str(home), "COLUMNS": "80"} | environment
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)


def grpo_ops(*arguments, home, **environment):
    return python("from grpo_ops.cli.main import run; run()", *arguments, home=home, **environment)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["sweep", SWEEP, "--set", "trials=0"], "trials: input should be greater than 0"),
        (["sweep", SWEEP, "--set", "run.grpo.loss_type=ppo"], "run.grpo.loss_type: 'ppo'"),
        (["sweep", RUN], "this is a RunSpec, not a SweepSpec; use `grpo-ops train`"),
        (["train", SWEEP], "this is a SweepSpec, not a RunSpec; use `grpo-ops sweep`"),
        (["promote", RUN], "use `grpo-ops train`"),
        (["promote", PROMOTION, "--set", "min_prompts=0"], "min_prompts: "),
        (["spec", "check", SWEEP, "--set", 'space."grpo.learning_rate".low=1'], "low = 1 is above high = 0.01"),
    ],
)
def test_a_fault_of_the_spec_is_said_before_anything_heavy_is_imported(tmp_path, arguments, sentence):
    code = (
        "import sys\nfrom grpo_ops.cli.main import run\ntry:\n    run()\nfinally:\n"
        f"    print('HEAVY', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = python(code, *arguments, home=tmp_path / "h")
    assert (done.returncode, done.stdout) == (2, "HEAVY []\n")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "h").exists()


@pytest.mark.parametrize("source", ["demo-v1.0-abc", "0123456789abcdef0123456789abcdef", "", "no/file", "no.csv"])
def test_what_is_nowhere_is_said_and_no_database_is_made_to_say_it(tmp_path, source):
    done = grpo_ops("forecast", source, home=tmp_path / "h")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "h").exists()


def test_a_run_key_may_hold_a_dot(tmp_path, monkeypatch):
    monkeypatch.setenv("GRPO_OPS_HOME", str(tmp_path))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    (tmp_path / "mlflow.db").touch()
    asked = []
    import grpo_ops.tracking

    monkeypatch.setattr(grpo_ops.tracking, "curve_of_run", lambda run, uri: asked.append(run) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        curve_of("demo-v1.0-abc")
    assert asked == ["demo-v1.0-abc"]
    with pytest.raises(CurveError, match=r"there is no file missing\.csv"):
        curve_of("missing.csv")


def test_nothing_is_reconciled_where_nothing_was_run(tmp_path):
    for arguments, said in (([], "nothing to do"), (["--json"], "[]"), (["--dry-run"], "nothing to do")):
        done = grpo_ops("reconcile", *arguments, home=tmp_path / "h")
        assert (done.returncode, said in done.stdout) == (0, True)
    assert not (tmp_path / "h").exists()


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (["--horizon", "10"], 2, "--horizon 10 is before the curve's last step 20; give a later step"),
        (["--horizon", "10", "--upto", "1"], 0, ""),
        (["--plot", "/no/such/folder/a.png"], 2, "--plot /no/such/folder/a.png cannot be written: there is no folder"),
        (["--upto", "2"], 2, "--upto is a share of the curve"),
    ],
)
def test_forecast_options(tmp_path, options, code, sentence):
    (tmp_path / "c.csv").write_text("step,reward\n" + "".join(f"{step},{step / 40}\n" for step in range(1, 21)))
    done = grpo_ops("forecast", str(tmp_path / "c.csv"), *options, home=tmp_path)
    assert done.returncode == code
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == bool(sentence)


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (TaskError("no task"), 2, "grpo-ops: no task"),
        (SweepError("no sweep"), 1, "grpo-ops: no sweep"),
        (PermissionError(13, "Permission denied", "/place"), 1, "grpo-ops: cannot use /place: Permission denied"),
        (OSError(28, "No space left on device"), 1, "grpo-ops: No space left on device"),
        (OSError("odd"), 1, "grpo-ops: odd"),
        (KeyboardInterrupt(), 130, "grpo-ops: interrupted"),
    ],
)
def test_expected_errors_are_sentences(capsys, error, code, sentence):
    @one_sentence
    def command():
        raise error

    with pytest.raises(SystemExit) as end:
        command()
    assert end.value.code == code
    assert capsys.readouterr().err.startswith(sentence)


def test_a_database_that_fails_is_a_sentence(capsys):
    exc = pytest.importorskip("sqlalchemy.exc")

    @one_sentence
    def command():
        raise exc.OperationalError("select", {}, Exception("connection refused\nmore"))

    with pytest.raises(SystemExit, match="1"):
        command()
    assert capsys.readouterr().err == "grpo-ops: the database cannot be used: connection refused\n"


def test_what_nobody_expects_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError):
        one_sentence(lambda: 1 / 0)()
    with pytest.raises(BrokenPipeError):
        one_sentence(_broken_pipe)()


def _broken_pipe():
    raise BrokenPipeError


def test_a_home_under_a_file_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    for arguments in (["train", RUN], ["sweep", SWEEP]):
        done = grpo_ops(*arguments, home=tmp_path / "file" / "home")
        assert (done.returncode, "Traceback" in done.stderr) == (2, False)
        assert f"because {tmp_path / 'file'} is no folder" in done.stderr


def test_a_warning_goes_to_stderr_and_ends_nothing(capsys):
    from grpo_ops.cli.commands import warn
    from grpo_ops.preflight import warnings
    from grpo_ops.specs import RunSpec, load_spec

    warn(warnings(load_spec(RunSpec, ROOT / RUN, ("task.source=reasoning_gym", "task.name=spiral_matrix"))))
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("grpo-ops: warning: task.name: reasoning-gym's scorer of 'spiral_matrix' passes")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_leaves_the_cursor_as_it_was(tmp_path, number, code):
    script = (
        "import sys, time\nfrom rich.console import Console\nfrom grpo_ops.cli.board import live_board\n"
        "from grpo_ops.cli.failures import one_sentence\n@one_sentence\ndef command():\n"
        "    with live_board(Console(force_terminal=True)) as show:\n"
        "        print('ready', file=sys.__stderr__, flush=True)\n        time.sleep(60)\ncommand()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=as_from_a_terminal,
    )
    assert process.stderr.readline() == b"ready\n"
    process.send_signal(number)
    shown = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == code
    assert shown.rfind(b"\x1b[?25h") > shown.rfind(b"\x1b[?25l") >= 0


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:secret@host/x", "postgresql://me:***@host/x"),
        ("postgresql://me:se@cr:et@host/x", "postgresql://me:***@host/x"),
        ("postgresql://me@host:5432/x", "postgresql://me@host:5432/x"),
        ("sqlite:////a/b@c.db", "sqlite:////a/b@c.db"),
        ("postgresql://host/x?user=me&password=secret&a=b", "postgresql://host/x?user=me&password=***&a=b"),
        ("http://127.0.0.1:5000", "http://127.0.0.1:5000"),
    ],
)
def test_passwords_are_not_shown(url, shown):
    assert without_password(url) == shown


@pytest.mark.parametrize(
    ("uri", "first"),
    [
        ("", "mlflow ui --backend-store-uri 'sqlite:////a b/mlflow.db'"),
        ("postgresql://me:secret@host/m", "mlflow ui --backend-store-uri 'postgresql://me:***@host/m'"),
        ("http://host:5000", "PREFECT_HOME='/a b/prefect' prefect server start"),
    ],
)
def test_where_to_look_further(monkeypatch, uri, first):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    lines = look_further(Home(Path("/a b")), "postgresql://me:secret@host/x")
    assert lines[0] == first
    assert lines[-1] == "optuna-dashboard 'postgresql://me:***@host/x'"
    assert "optuna" not in " ".join(look_further(Home(Path("/a b")), None))


def test_the_page_that_compares_the_runs_has_the_experiments_id(tmp_path, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    from grpo_ops.tracking.connection import connect

    home = Home(tmp_path)
    number = connect(home.tracking_uri).create_experiment("mine")
    page = f"http://127.0.0.1:5000/#/experiments/{number}/runs?workflowType=machine_learning&orderByKey=metrics."
    assert any(page in line for line in look_further(home, None, "mine"))
    assert not any("experiments" in line for line in look_further(home, None, "other"))


@pytest.mark.parametrize(("value", "root"), [("", ".grpo-ops"), ("x", "x")])
def test_an_empty_home_means_the_default(monkeypatch, value, root):
    monkeypatch.setenv("GRPO_OPS_HOME", value)
    assert Home.here().root == Path(root).absolute()


def test_the_console_of_commands_takes_brackets_as_they_are(capsys):
    from grpo_ops.cli.printing import say

    say(Console(width=20), "a [bold] word and more words than a line holds")
    assert capsys.readouterr().out == "a [bold] word and more words than a line holds\n"
