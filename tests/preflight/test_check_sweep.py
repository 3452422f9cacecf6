"""Pre-flight of a study: its storage, and the corners of its space that pre-flight sees."""

from pathlib import Path

import pytest

from grpo_ops.preflight import check, check_sweep
from grpo_ops.specs import RunSpec, SweepSpec, load_spec

DEPLOYMENTS = Path(__file__).parents[2] / "deployments"
RUN, SWEEP = DEPLOYMENTS / "runs/demo.toml", DEPLOYMENTS / "sweeps/demo.toml"
#: A second reward for evaluations: only so may a sweep draw the first one.
REWARDS = 'run.rewards=[{name="reasoning_gym", eval_weight=0, log_name="drawn"}, {name="exact_match"}]'


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("GRPO_OPS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path / "home"


def faults_of(*settings, allow_import_paths=True):
    spec = load_spec(SweepSpec, SWEEP, settings)
    return check_sweep(spec, allow_import_paths=allow_import_paths)


@pytest.mark.parametrize(
    ("space", "sentences"),
    [
        ('{"grpo.max_completion_length"={low=8, high=200}}', []),
        ('{"grpo.max_completion_length"={choices=[8, 250]}}', ["prompts are longer than 6 tokens"]),
        ('{"task.name"={choices=["arith", "nonsense"]}}', ["'nonsense'"]),
        ('{"task.name"={choices=["arith"]}, "model.id"={choices=["starter:arith-s@0.3"]}}', []),
        ('{"rewards.0.name"={choices=["reasoning_gym", "nonsense"]}}', ["(with rewards.0.name = 'nonsense')"]),
        ('{"evaluation.prompts"={choices=[64, 100000]}}', ["(with evaluation.prompts = 100000)"]),
        (
            '{"task.name"={choices=["nope"]}, "rewards.0.name"={choices=["nonsense"]}}',
            ["no starter task 'nope'", "rewards.0: "],
        ),
    ],
)
def test_the_values_of_the_space_are_looked_at(space, sentences):
    faults = faults_of(REWARDS, f"space={space}")
    assert len(faults) == len(sentences)
    assert all(sentence in fault for sentence, fault in zip(sentences, faults, strict=True))


def test_what_the_space_replaces_is_not_looked_at():
    assert not faults_of("run.task.name=nonsense", 'space={"task.name"={choices=["arith"]}}')


def test_import_paths_need_a_local_file():
    space = 'space={"rewards.0.name"={choices=["reasoning_gym","json:dumps"]}}'
    assert not faults_of(REWARDS, space)
    assert ["json:dumps" in fault for fault in faults_of(REWARDS, space, allow_import_paths=False)] == [True]


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("nonsense", "'nonsense' is no database URL"),
        ("foo://me:secret@host/x", "'foo://me:***@host/x' names a kind of database that SQLAlchemy does not know"),
        ("mysql+no_driver://me:secret@host/x", "'mysql+no_driver://me:***@host/x'"),
        ("mysql+mysqldb://me:secret@host/x", "needs a driver that is not installed (MySQLdb)"),
        ("sqlite:////no/such/folder/a.db", "there is no folder /no/such/folder"),
    ],
)
def test_a_storage_that_cannot_be_used_is_one_sentence(url, sentence):
    (fault,) = faults_of(f"storage={url}")
    assert sentence in fault
    assert "secret" not in fault


@pytest.mark.parametrize("place", ["{home}/optuna.db", "{home.parent}/other.db"])
def test_a_sqlite_file_is_not_made(home, place):
    assert not faults_of(f"storage=sqlite:///{place.format(home=home)}")
    assert not list(home.parent.glob("**/*.db"))


def test_a_server_that_does_not_answer_is_said():
    driver = next((name for name in ("psycopg", "psycopg2") if _is_installed(name)), None)
    if driver is None:
        pytest.skip("no driver for PostgreSQL is installed")
    (fault,) = faults_of(f"storage=postgresql+{driver}://me:secret@127.0.0.1:1/x")
    assert "cannot be reached" in fault and "secret" not in fault


def _is_installed(module):
    import importlib.util

    return importlib.util.find_spec(module) is not None


def test_a_home_that_cannot_be_written_is_said(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GRPO_OPS_HOME", str(tmp_path / "file" / "home"))
    (fault,) = check(load_spec(RunSpec, RUN))
    assert f"because {tmp_path / 'file'} is no folder" in fault


@pytest.mark.parametrize(
    ("name", "sentences"),
    [("delta", []), ("nonsense", ["no such field"]), ("entropy_coeff", ["did you mean 'entropy_coef'?"])],
)
def test_names_in_extra_are_fields_of_trl(name, sentences):
    pytest.importorskip("trl")
    faults = check(load_spec(RunSpec, RUN, (f"grpo.extra.{name}=0.5",)))
    assert [sentence in fault for sentence, fault in zip(sentences, faults, strict=True)] == [True] * len(sentences)
