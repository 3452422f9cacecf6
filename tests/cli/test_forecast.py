"""`grpo-ops forecast`: (arguments → text, table, JSON, pictures, exit code), on files, through the real commands."""

import json
from pathlib import Path

import pytest

RECORDED = Path(__file__).parents[2].parent / "shared" / "curves"
PROMISED = {"mean", "low", "high", "level", "horizon", "step", "last_value", "phase", "plateau_step"}
PROMISED |= {"status", "fits", "diagnostics", "warnings"}


def test_one_curve_is_text_with_its_parts_in_order(call, study):
    done = call("forecast", study / "runs/trial-7.csv", "--upto", "0.5")
    assert (done.exit_code, done.stderr) == (0, "")
    labels = [line.split()[0] for line in done.stdout.splitlines() if line[:2] == "  " and line[2] != " "]
    assert [label for label in labels if label.isalpha()] == list(
        dict.fromkeys(label for label in labels if label.isalpha())
    )
    for part in ("trial-7.csv: step 20 of 40", "with 80 % probability", "  next ", "  phase ", "  law ", "  advice "):
        assert part in done.stdout
    assert done.stdout.count("|") >= 3


@pytest.mark.parametrize(
    ("sources", "names"),
    [
        (["runs/trial-7.csv", "runs/trial-0.csv"], ["trial-7.csv", "trial-0.csv"]),
        (["runs"], [f"trial-{number}" for number in range(8)]),
        (["sweep.json"], [f"small/t{number}" for number in range(8)]),
        (["half", "sweep.json"], ["half", *(f"small/t{number}" for number in range(8))]),
    ],
)
def test_several_curves_are_a_table_and_a_list(call, study, sources, names):
    paths = [study / source for source in sources]
    lines = call("forecast", *paths).stdout.splitlines()
    assert "findings" in lines[1] and "80 % band" in lines[1]
    assert [line.split()[0] for line in lines[3 : 3 + len(names)]] == names
    assert not any(line.endswith(" ") for line in lines)
    found = json.loads(call("forecast", *paths, "--json").stdout)
    assert [one["name"] for one in found] == names
    assert all(set(one) >= PROMISED for one in found)


def test_json_is_one_object_for_one_curve_and_a_list_for_a_folder_of_one(call, study, tmp_path):
    (tmp_path / "a.csv").write_text((study / "runs/trial-3.csv").read_text())
    one = json.loads(call("forecast", tmp_path / "a.csv", "--json").stdout)
    assert set(one) >= PROMISED and one["low"] < one["mean"] < one["high"]
    assert [fit["law"] for fit in one["fits"]] == sorted({fit["law"] for fit in one["fits"]}, key=_rank(one))
    assert len(json.loads(call("forecast", tmp_path, "--json").stdout)) == 1


def _rank(found):
    laws = [fit["law"] for fit in sorted(found["fits"], key=lambda fit: fit["aicc"])]
    return laws.index


@pytest.mark.parametrize(
    ("curve", "siblings", "count", "said"),
    [
        ("runs/trial-6.csv", ["sweep.json"], 7, ["among its siblings itself"]),
        ("sweep.json", ["sweep.json"], 7, ["among its siblings itself"]),
        ("half", ["sweep.json"], 8, []),
        ("half", ["runs"], 8, []),
        ("half", ["runs/trial-1.csv", "runs/trial-2.csv"], 2, []),
        ("half", ["runs/trial-1.csv", "runs", "sweep.json"], 8, []),
        ("runs/trial-6.csv", ["half", "runs"], 7, ["left out because they have not finished: 1"]),
        ("half", ["runs/trial-1.csv"], 1, ["one has finished, and two are the least"]),
    ],
)
def test_siblings_are_finished_others_each_once(call, study, curve, siblings, count, said):
    options = [part for place in siblings for part in ("--siblings", study / place)]
    done = call("forecast", study / curve, "--upto", "0.4", *options, "--json")
    found = json.loads(done.stdout)
    for one in found if isinstance(found, list) else [found]:
        assert one["siblings"] == count
        assert one["calibration"] == ("siblings" if count > 1 else "model-error")
        assert all(any(part in warning for warning in one["warnings"]) for part in said)


def test_a_curves_own_hyperparameters_are_used(call, study, tmp_path):
    """The same curve without the sweep's hyperparameters for it is forecast differently."""
    lines = (study / "runs/trial-7.csv").read_text().splitlines()
    (tmp_path / "alike.csv").write_text("\n".join([*lines[:-1], "40,0.75"]))
    options = ("--upto", "0.1", "--siblings", study / "sweep.json", "--json")
    known, unknown = (
        json.loads(call("forecast", path, *options).stdout)
        for path in (study / "runs/trial-7.csv", tmp_path / "alike.csv")
    )
    assert known["last_value"] == unknown["last_value"]
    assert known["mean"] != unknown["mean"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--upto", "0"], "--upto is a share of the curve, above 0 and at most 1, such as 0.3, but got 0"),
        (["--upto", "nan"], "but got nan"),
        (["--level", "1"], "--level is a probability between 0 and 1, such as 0.8, but got 1"),
        (["--horizon", "0"], "--horizon is a step, 1 or later, but got 0"),
        (["--horizon", "10"], "--horizon 10 is before the curve's last step 40"),
        (["--plot", "a.pdf"], "--plot a.pdf must end in .png or .html"),
        (["--plot", "/no/such/a.png"], "there is no folder /no/such; make it first"),
        (["--siblings", "missing.csv"], "--siblings missing.csv: there is no file missing.csv"),
        (["--siblings", "missing"], "--siblings missing: there is no file missing, and no run of that name"),
        (["--siblings", "{study}/loss.json"], "give the sweep file itself as CURVE"),
        (["--siblings", "{study}/loss.json", "--siblings", "{study}/runs"], "name one kind"),
        (["--backtest", "--upto", "0.3"], "leave out --upto 0.3"),
        (["--backtest", "--horizon", "50"], "leave out --horizon 50"),
        (["--backtest", "--plot", "a.png"], "leave out --plot a.png"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(call, study, options, sentence):
    done = call("forecast", study / "runs/trial-5.csv", *(option.format(study=study) for option in options))
    assert (done.exit_code, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_broken_file_among_several_stops_no_other(call, study, tmp_path):
    (tmp_path / "broken.csv").write_text("a,b\n1,2\n")
    sources = [tmp_path / "broken.csv", study / "runs/trial-5.csv", tmp_path / "missing.csv"]
    done = call("forecast", *sources)
    assert done.exit_code == 2
    assert "trial-5.csv" in done.stdout and "broken" not in done.stdout
    first, second = done.stderr.strip().splitlines()
    assert "broken.csv" in first and "there is no file" in second
    found = call("forecast", *sources, "--json")
    assert (found.exit_code, len(json.loads(found.stdout))) == (2, 1)
    assert json.loads(call("forecast", *sources[::2], "--json").stdout) == []


def test_a_horizon_that_suits_only_some_curves_is_said_of_the_others(call, study):
    done = call("forecast", study / "half", study / "runs/trial-5.csv", "--horizon", "30")
    assert done.exit_code == 2
    assert "half" in done.stdout
    assert "trial-5.csv: --horizon 30 is before" in done.stderr


def test_less_is_better_is_said(call, study):
    done = call("forecast", study / "loss.json", "--siblings", study / "loss.json", "--upto", "0.5")
    assert done.exit_code == 0
    assert "less reward is better there, so rewards are shown with their sign turned (8 curves)" in done.stdout


@pytest.mark.parametrize("sources", [["runs/trial-6.csv"], ["runs"]])
@pytest.mark.parametrize(
    ("name", "start"), [("a.png", b"\x89PNG"), ("a.html", b"<!DOCTYPE html>"), ("A.PNG", b"\x89PNG")]
)
def test_pictures(call, study, tmp_path, sources, name, start):
    paths = [study / source for source in sources]
    done = call("forecast", *paths, "--upto", "0.5", "--siblings", study / "runs", "--plot", tmp_path / name)
    assert done.exit_code == 0, done.stderr
    content = (tmp_path / name).read_bytes()
    assert content.lower().startswith(start.lower()) and len(content) > 20_000


def test_hindsight_is_a_table_for_each_finished_curve(call, study):
    done = call("forecast", "--backtest", study / "runs/trial-6.csv", study / "runs/trial-7.csv", study / "half")
    assert done.exit_code == 2
    assert "half has not finished (step 20 of 40), so there is no end to compare with" in done.stderr
    for number in (6, 7):
        assert f"trial-{number}.csv: ended at 0." in done.stdout
    for share in ("10%", "20%", "30%", "50%", "70%"):
        assert done.stdout.count(f"  {share} ") == 2
    assert "of 10 bands held the truth" in done.stdout


def test_hindsight_as_json_leans_on_siblings_but_never_on_itself(call, study):
    place = ("--siblings", study / "sweep.json", "--json")
    (look,) = json.loads(call("forecast", "--backtest", study / "runs/trial-6.csv", *place).stdout)
    assert [said["step"] for said in look["said"]] == [4, 8, 12, 20, 28]
    assert look["siblings"] == 7
    assert {said["calibration"] for said in look["said"]} == {"siblings"}
    keys = {
        "progress",
        "step",
        "last_value",
        "mean",
        "low",
        "high",
        "inside",
        "phase",
        "collapse_chance",
        "calibration",
    }
    for said in look["said"]:
        assert set(said) == keys
        assert said["inside"] == (said["low"] <= look["truth"] <= said["high"])


@pytest.mark.parametrize("name", ["tonywang-gsm8k__mu-2.csv", "sunshine__exp1a-rho0.30-seed43.csv"])
def test_recorded_curves(call, name):
    if not (RECORDED / name).exists():
        pytest.skip("the recorded curves are not here")
    found = json.loads(call("forecast", RECORDED / name, "--upto", "0.8", "--json").stdout)
    assert set(found) >= PROMISED
    assert found["diagnostics"] or found["phase"] == "rise"
    text = call("forecast", RECORDED / name, "--upto", "0.8").stdout
    assert all(finding["advice"] in text and finding["cost"] in text for finding in found["diagnostics"])


def test_what_the_terminal_cannot_show_is_replaced(call, study, monkeypatch):
    import io
    import sys

    from grpo_ops.cli.forecast import forecast_command
    from grpo_ops.cli.forecast_options import ForecastOptions

    for sources in ([str(study / "runs/trial-7.csv")], [str(study / "runs")]):
        shown = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, encoding="ascii"))
        assert forecast_command(sources, ForecastOptions()) == 0
        sys.stdout.flush()
        assert b"trial-7" in shown.getvalue()


def test_columns_that_are_not_recognised_can_be_named(call, tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("when,score\n" + "".join(f"{step},{step / 100}\n" for step in range(1, 41)))
    refused = call("forecast", path)
    assert refused.exit_code == 2 and refused.stderr.count("\n") == 1
    named = call("forecast", path, "--reward", "score", "--step", "when", "--json")
    assert named.exit_code == 0 and json.loads(named.stdout)["step"] == 40
