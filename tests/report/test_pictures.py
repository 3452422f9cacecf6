"""What the pictures show: sketches, the PNG's axes, and the HTML page as its own JSON says it."""

import json
import re

import numpy as np
import pytest

from grpo_ops.curve import RewardCurve
from grpo_ops.report import ForecastReport, forecasts_figure, forecasts_page, save_html, save_png
from grpo_ops.report.sketch import MOST_SIBLINGS, Sketch

N = 60
X = np.arange(1, N + 1) / N


def curve(seed, fall=False, top=0.6) -> RewardCurve:
    levels = 0.9 - 0.9 / (1 + np.exp(-30 * (X - 0.3))) if fall else 0.2 + top * (1 - np.exp(-X / 0.3))
    noise = np.random.default_rng(seed).normal(0, 0.02, N)
    return RewardCurve(tuple(range(1, N + 1)), tuple(map(float, levels + noise)), N)


def report(name="run <b>", fall=False, siblings=4) -> ForecastReport:
    others = [curve(10 + number, top=0.1 * number) for number in range(siblings)]
    return ForecastReport.of(curve(0, fall).head(40), name=name, siblings=others)


@pytest.fixture(scope="module")
def reports():
    return [report(), report("falls", fall=True), report("alone", siblings=0)]


def test_a_sketch_has_all_that_is_known(reports):
    one, falls, alone = map(Sketch.of, reports)
    assert one.points.steps[0] == 1 and one.points.steps[-1] == one.smooth.steps[-1] == 40
    assert one.law.steps[-1] == N == one.last_step
    assert (len(one.siblings), len(alone.siblings)) == (4, 0)
    assert falls.spans[-1].phase == "decline"
    assert "collapse" in [finding.symptom for finding in falls.findings]


def test_many_points_and_many_siblings_are_thinned():
    steps = tuple(range(1, 10_001))
    long = RewardCurve(steps, tuple(0.5 + 0.1 * (step % 7) for step in steps), 10_000)
    sketch = Sketch.of(ForecastReport.of(curve(0), siblings=[curve(number) for number in range(1, 50)]))
    assert len(sketch.siblings) == MOST_SIBLINGS
    points = Sketch.of(ForecastReport.of(long)).points
    assert len(points.steps) <= 4001 and points.steps[-1] == 10_000


@pytest.mark.parametrize("rewards", [(), (0.5,), (0.5,) * 20])
def test_little_can_be_drawn_too(rewards, tmp_path):
    short = ForecastReport.of(RewardCurve(tuple(range(1, len(rewards) + 1)), rewards, N), name="short")
    assert save_html(forecasts_page([short]), tmp_path / "a.html").stat().st_size > 20_000
    assert save_png(forecasts_figure([short, short]), tmp_path / "a.png").stat().st_size > 5_000


def test_small_multiples_share_one_legend(reports):
    figure = forecasts_figure(reports)
    assert [axes.get_title(loc="left") for axes in figure.axes][:2] == [
        "run <b>: step 40 of 60",
        "falls: step 40 of 60",
    ]
    (legend,) = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert len(labels) == len(set(labels))
    assert {"reward", "smoothed", "best law", "forecast", "80 % band of the level", "siblings (4)"} <= set(labels)
    assert "phase: decline" in labels
    assert "collapse" in [text.get_text() for text in figure.axes[1].texts]


def test_the_page_stands_alone_and_shows_the_same(reports, tmp_path):
    text = save_html(forecasts_page(reports), tmp_path / "a.html").read_text()
    assert not re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=\"?http", text)
    page = json.loads(forecasts_page(reports).to_json())
    names = [trace.get("name") for trace in page["data"] if trace.get("showlegend")]
    assert len(names) == len(set(names))
    assert {"reward", "smoothed", "forecast", "80 % band of the level", "siblings (4)", "findings"} <= set(names)
    assert any(name.endswith("law, fit ok") for name in names)
    spans = sum(len(one.forecast.phases) for one in reports)
    assert len([shape for shape in page["layout"]["shapes"] if shape["type"] == "rect"]) == spans
    titles = [note["text"] for note in page["layout"]["annotations"]]
    assert titles == ["run &lt;b&gt;: step 40 of 60", "falls: step 40 of 60", "alone: step 40 of 60"]


def test_a_finding_says_all_of_itself_on_hover(reports):
    page = json.loads(forecasts_page([reports[1]]).to_json())
    (findings,) = [trace for trace in page["data"] if trace.get("name") == "findings"]
    assert findings["x"] == [finding.since_step for finding in reports[1].diagnostics]
    assert all("Cost: " in text and "Try: " in text for text in findings["hovertext"])
