import json

import numpy as np
import pytest

from grpo_ops.curve import RewardCurve
from grpo_ops.law import LAWS
from grpo_ops.report import ForecastReport, forecast_figure, forecast_text, save_png, sparkline

N = 100
X = np.arange(1, N + 1) / N
LEVELS = {
    "rising": 0.2 + 0.6 * (1 - np.exp(-X / 0.4)),
    "plateau": 0.2 + 0.6 * (1 - np.exp(-X / 0.05)),
    "declining": 0.8 * np.exp(-(((X - 0.3) / 0.15) ** 2)),
    "flat": np.full(N, 0.4),
}


def report(levels: str, upto: int, **arguments) -> ForecastReport:
    rewards = LEVELS[levels] + np.random.default_rng(0).normal(0, 0.02, N)
    curve = RewardCurve(tuple(range(1, N + 1)), tuple(map(float, rewards)), arguments.pop("max_steps", N))
    return ForecastReport.of(curve.head(upto), name=levels, **arguments)


@pytest.mark.parametrize(
    ("levels", "upto", "phase", "advice"),
    [
        ("rising", 30, "rise", "still rising"),
        ("plateau", 70, "plateau", "looks flat"),
        ("declining", 70, "decline", "keep the best checkpoint"),
        ("flat", 50, "no signal", "Nothing can be told"),
        ("rising", 100, "plateau", "The run has ended"),
    ],
)
def test_the_text_says_where_it_will_end_and_what_to_do(levels, upto, phase, advice):
    text = forecast_text(report(levels, upto))
    assert f"{levels}: step {upto} of {N}" in text
    assert f"phase     {phase}" in text
    assert advice in text
    assert "with 80 % probability" in text


@pytest.mark.parametrize("rewards", [(), (0.5,), (0.5, 0.5), (0.5,) * 20])
def test_what_has_no_forecast_is_said_in_every_form(rewards, tmp_path):
    curve = RewardCurve(tuple(range(1, len(rewards) + 1)), rewards, N)
    short = ForecastReport.of(curve)
    assert short.advice in forecast_text(short)
    assert json.dumps(short.as_dict(), allow_nan=False)
    assert save_png(forecast_figure(short), tmp_path / "a.png").stat().st_size > 5000


def test_the_dictionary_has_the_promised_keys():
    keys = {"mean", "low", "high", "level", "horizon", "step", "last_value"}
    keys |= {"phase", "plateau_step", "status", "fits", "diagnostics", "warnings"}
    found = report("rising", 40, notes=["1 gap"]).as_dict()
    assert keys <= set(found)
    assert found["warnings"][0] == "1 gap"
    assert {fit["law"] for fit in found["fits"]} == set(LAWS)
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_an_unknown_length_is_warned_of():
    assert any("planned length is not known" in warning for warning in report("rising", 40, max_steps=None).warnings)
    assert not report("rising", 40, max_steps=None, horizon=N).warnings


def test_little_more_than_a_guess_is_called_one():
    assert any("guess" in warning for warning in report("rising", 8).warnings)


def test_the_picture_in_the_terminal_has_the_band_around_the_path():
    lines = forecast_text(report("rising", 50)).splitlines()
    assert [line.count("|") for line in lines[1:4]] == [1, 1, 1]
    assert len({line.index("|") for line in lines[1:4]}) == 1
    assert len({len(line) for line in lines[1:4]}) == 1
    assert forecast_text(report("rising", 50), plain=True).splitlines()[2].isascii()


@pytest.mark.parametrize(
    ("values", "width", "expected"),
    [
        ([], 10, ""),
        ([0, 1], 10, "▁█"),
        ([0, 0, 1, 1], 2, "▁█"),
        ([1, 1, 1], 3, "▅▅▅"),
        ([0, float("nan"), 1], 3, "▁ █"),
        ([float("nan")], 3, " "),
        (range(8), 8, "▁▂▃▄▅▆▇█"),
    ],
)
def test_sparkline(values, width, expected):
    assert sparkline(values, width) == expected


def test_the_text_is_wrapped_under_its_labels():
    lines = forecast_text(report("declining", 70), width=60).splitlines()[4:]
    assert max(map(len, lines)) <= 60
    assert all(line[:2] == "  " and (line[2] != " " or line[:12] == " " * 12) for line in lines)
    assert len(lines) > len(forecast_text(report("declining", 70)).splitlines()[4:])


def test_findings_are_said_with_evidence_cost_and_what_to_try():
    falls = report("declining", 70)
    text = forecast_text(falls)
    assert "  critical  collapse, since step" in text
    assert "% chance that it ends more than half of its gain below its best" in text
    for finding in falls.diagnostics:
        assert all(part in text for part in (finding.evidence, f"Cost: {finding.cost}", f"Try: {finding.advice}"))


def test_the_figure_shows_curve_law_forecast_band_and_marks(tmp_path):
    figure = forecast_figure(report("rising", 40), decision_step=40, decision="stopped: hopeless")
    axes = figure.axes[0]
    labels = axes.get_legend_handles_labels()[1]
    assert {"reward", "smoothed", "forecast", "80 % band of the level"} <= set(labels)
    assert any(label.endswith("law, fit ok") for label in labels)
    assert "phase: rise" in labels
    assert "stopped: hopeless" in [text.get_text() for text in axes.texts]
    assert save_png(figure, tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"


def test_drawing_leaves_no_global_state():
    import subprocess
    import sys

    code = (
        "import sys; from grpo_ops.curve import RewardCurve;"
        "from grpo_ops.report import ForecastReport, forecast_figure;"
        "c = RewardCurve(tuple(range(1, 30)), tuple(i / 30 + i % 2 for i in range(29)), 60);"
        "forecast_figure(ForecastReport.of(c)); print('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
