"""Steps saved over regret: (rows -> panels, curves, limits)."""

from dataclasses import replace

import pytest

from grpo_ops.replay import SweepRow
from grpo_ops.report import frontier_figure, save_png

ROW = SweepRow("mean", "law", "default", 1, 0.45, 0.007, 0.9, 0.97, 0.05, 0.4, 100, 0.003, 0.001, None)
CURVE = [
    ROW,
    replace(ROW, setting="caution 0.4", saved=0.5, regret=0.012),
    replace(ROW, setting="caution 1.0", saved=0.35, regret=0.004),
    replace(ROW, setting="plateau", saved=0.47, regret=0.009),
]
LIMIT = replace(ROW, rule="clairvoyant", setting="from 10%", saved=0.6, regret=0.0)
SHA = replace(ROW, rule="sha", setting="default", saved=0.61, regret=0.054)


def curves(axes):
    """(label, saved in per cent) of each line with error bars."""
    return [(bars.get_label(), list(bars.lines[0].get_ydata())) for bars in axes.containers]


@pytest.mark.parametrize("counts", [(1,), (1, 4)])
def test_each_number_of_workers_has_a_panel(counts, tmp_path):
    rows = [replace(row, workers=count) for count in counts for row in (*CURVE, LIMIT)]
    figure = frontier_figure(rows, "made")
    assert [axes.get_title() for axes in figure.axes] == ["one trial at a time", "4 at a time"][: len(counts)]
    assert save_png(figure, tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"


def test_settings_of_one_knob_are_joined_and_others_stand_alone():
    (axes,) = frontier_figure([*CURVE, LIMIT, SHA]).axes
    assert curves(axes) == [
        ("law", pytest.approx([35, 45, 50])),
        ("_law", pytest.approx([47])),
        ("successive halving", pytest.approx([61])),
    ]


def test_the_axis_reaches_the_largest_regret():
    (axes,) = frontier_figure([*CURVE, SHA]).axes
    assert axes.get_xlim() == pytest.approx((0, 105 * 0.055))


def test_every_setting_is_named():
    (axes,) = frontier_figure([*CURVE, LIMIT]).axes
    assert {text.get_text() for text in axes.texts} == {"default", "caution 0.4", "caution 1.0", "plateau", "from 10%"}
