"""`grpo-ops replay`: (arguments -> rows, tables, picture, exit code) on a small study, through the real command."""

import json

import pytest

KEYS = ["sweep", "rule", "setting", "workers", "saved", "regret"]
KEYS += ["keeps_best", "near", "false_prunes", "ms_per_decision", "replicates"]


def test_json_is_the_list_of_rows(call, study):
    rules = ["--pruners", "none,median,law", "--workers", "1,4", "--subsets", "--replicates", "3"]
    done = call("replay", study / "sweep.json", study / "loss.json", *rules, "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    rows = json.loads(done.stdout)
    assert all(list(row)[: len(KEYS)] == KEYS for row in rows)
    assert {row["sweep"] for row in rows} == {"small", "loss", "mean"}
    assert {row["workers"] for row in rows} == {1, 4}
    assert list(dict.fromkeys(row["rule"] for row in rows)) == ["none", "median", "law"]
    default = [row for row in rows if (row["rule"], row["setting"]) == ("law", "default")]
    assert [row["sweep"] for row in default] == ["small", "loss", "small", "loss", "mean", "mean"]
    assert all(row["saved"] == row["regret"] == 0 for row in rows if row["rule"] == "none")


def test_more_replicates_are_not_more_rows_and_seeds_differ(call, study):
    def rows(*options):
        done = call("replay", study / "sweep.json", "--pruners", "hyperband", "--json", *options)
        return [{name: value for name, value in row.items() if "ms" not in name} for row in json.loads(done.stdout)]

    assert rows("--replicates", "3") == rows("--replicates", "3")
    assert rows("--replicates", "3") != rows("--replicates", "3", "--seed", "1")


def test_text_has_a_table_a_sweep_then_the_mean(call, study, tmp_path):
    picture = tmp_path / "frontier.png"
    options = ("--pruners", "median, clairvoyant", "--replicates", "2", "--workers", "1,2", "--plot", picture)
    done = call("replay", study / "sweep.json", study / "loss.json", *options)
    assert done.exit_code == 0
    parts = [
        "small\n",
        "loss\n",
        "mean of 2 sweeps\n",
        "small, 2 at a time\n",
        "mean of 2 sweeps, 2 at a time\n",
        "saved:",
    ]
    places = [done.stdout.index(part) for part in parts]
    assert places == sorted(places)
    assert "warm-up 20%" in done.stdout and "from 10%" in done.stdout
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_a_folder_is_its_sweeps(call, study):
    done = call("replay", study, "--pruners", "none", "--replicates", "1", "--json")
    assert [row["sweep"] for row in json.loads(done.stdout)] == ["loss", "small", "mean"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--pruners", "asha"], "there is no rule 'asha': give all, or some of none, median"),
        (["--workers", "0"], "--workers takes numbers of trials at a time, such as 1,4, but got '0'"),
        (["--workers", "one"], "--workers takes numbers of trials at a time, such as 1,4, but got 'one'"),
        (["--replicates", "0"], "--replicates is a number of studies, 1 or more, but got 0"),
        (["--seed", "-1"], "--seed cannot be negative but got -1"),
        (["--jobs", "0"], "--jobs is a number of processes, 1 or more, but got 0"),
        (["--metric", "loss"], "--metric must be one of auto, reward, eval_reward but got 'loss'"),
        (["--metric", "eval_reward"], "not every trial of small has evaluations: give --metric reward"),
        (["--plot", "a.pdf"], "--plot a.pdf must end in .png"),
        (["--plot", "nowhere/a.png"], "--plot nowhere/a.png cannot be written: there is no folder nowhere"),
    ],
)
def test_wrong_options_are_one_sentence(call, study, options, sentence):
    done = call("replay", study / "sweep.json", *options)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_single_curve_cannot_be_replayed(call, study):
    done = call("replay", study / "runs/trial-1.csv")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "trial-1 cannot be replayed: give a sweep file with at least 3 trials" in done.stderr


def test_what_cannot_be_read_is_said_and_the_rest_is_replayed(call, study):
    done = call(
        "replay", study / "sweep.json", study / "absent.json", "--pruners", "none", "--replicates", "1", "--json"
    )
    assert done.exit_code == 2
    assert [row["sweep"] for row in json.loads(done.stdout)] == ["small", "mean"]
    assert "absent.json" in done.stderr


def test_trials_that_were_ended_early_are_left_out_and_it_is_said(call, study):
    document = json.loads((study / "sweep.json").read_text())
    for trial, ending in zip(document["trials"], ["hopeless", "plateau", *["finished"] * 6], strict=True):
        trial["ending"] = ending
    (study / "exported.json").write_text(json.dumps(document | {"name": "exported"}))
    sentence = "2 of 8 trials left out: they were ended early (1 hopeless, 1 plateau)"
    for command in (["replay", "--pruners", "none", "--replicates", "1"], ["backtest", "--draws", "1"]):
        done = call(command[0], study / "exported.json", *command[1:])
        assert (done.exit_code, done.stderr) == (0, "")
        assert sentence in " ".join(done.stdout.split())
    (study / "exported.json").unlink()


def test_a_mean_over_some_of_the_sweeps_says_so(call, study):
    rows = [f"{step},{step / 80:.3f},{'1' * step + '0' * (40 - step)}" for step in range(0, 41, 4)]
    (study / "runs" / "held.evals.csv").write_text("\n".join(["step,mean,passed_by_prompt", *rows]))
    document = json.loads((study / "sweep.json").read_text()) | {"name": "held"}
    for trial in document["trials"]:
        trial["evals"] = "runs/held.evals.csv"
    (study / "held.json").write_text(json.dumps(document))
    done = call("replay", study / "sweep.json", study / "held.json", "--pruners", "law", "--replicates", "1")
    (study / "held.json").unlink()
    (mean,) = done.stdout.split("mean of 2 sweeps")[1:]
    assert "paired (of 1)" in mean
    assert "default (of" not in mean
