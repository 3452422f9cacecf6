import numpy as np
import pytest

from grpo_ops.curve import RewardCurve
from grpo_ops.law import Phase
from grpo_ops.report.contact_sheet import Panel, contact_sheet
from grpo_ops.report.figure import save_png


def panel(n: int, name: str = "a") -> Panel:
    rewards = 1 - np.exp(-np.arange(n) / 20) + np.random.default_rng(n).normal(0, 0.05, n)
    return Panel.of(name, RewardCurve(tuple(range(1, n + 1)), tuple(map(float, rewards))))


def test_a_panel_knows_law_forecast_and_phases():
    drawn = panel(120)
    assert [span.phase for span in drawn.spans] == [Phase.RISE, Phase.PLATEAU]
    assert drawn.law.params and drawn.ahead.step == 36 and drawn.ahead.horizon == 120


@pytest.mark.parametrize(("count", "pages"), [(1, 1), (4, 1), (5, 2)])
def test_pages_hold_all_panels(count, pages, tmp_path):
    sheets = contact_sheet([panel(40, f"curve {i}") for i in range(count)], columns=2, rows=2)
    titles = [axes.get_title(loc="left") for sheet in sheets for axes in sheet.axes]
    assert len(sheets) == pages
    assert [title for title in titles if title] == [f"curve {i}" for i in range(count)]
    assert save_png(sheets[0], tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("rewards", [(), (0.5,), (0.5,) * 9, (0.1, 0.2, 0.1)])
def test_curves_without_anything_to_tell_are_drawn(rewards, tmp_path):
    bare = Panel.of("bare", RewardCurve(tuple(range(1, len(rewards) + 1)), rewards))
    assert save_png(contact_sheet([bare])[0], tmp_path / "a.png").stat().st_size > 2000


def test_the_legend_names_every_phase():
    texts = {text.get_text() for text in contact_sheet([panel(30)])[0].legends[0].get_texts()}
    assert {phase.value for phase in Phase} <= texts


def test_the_law_is_drawn_where_the_curve_is():
    curve = panel(60).curve
    moved = RewardCurve(tuple(step + 1000 for step in curve.steps), curve.rewards)
    axes = contact_sheet([Panel.of("moved", moved)])[0].axes[0]
    drawn = next(line for line in axes.lines if line.get_linestyle() == "--").get_xdata()
    assert (drawn[0], drawn[-1]) == pytest.approx((1000, 1060))
