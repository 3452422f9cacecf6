"""Steps saved over regret: each rule's curve over its settings, a panel for each number of workers. Matplotlib."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from grpo_ops.law.types import Floats
from grpo_ops.replay import SweepRow

_PANEL = (6.4, 4.8)
_RULES = {
    "law": ("law", "#0072B2", "o"),
    "calibrated_last_value": ("calibrated last value", "#56B4E9", "s"),
    "median": ("median", "#E69F00", "^"),
    "percentile": ("percentile", "#F0C808", "v"),
    "patient": ("patient median", "#999999", "P"),
    "wilcoxon": ("Wilcoxon", "#009E73", "D"),
    "sha": ("successive halving", "#D55E00", "X"),
    "hyperband": ("Hyperband", "#CC79A7", "*"),
}
#: Settings that differ in one knob, by their first word; they are joined by a line.
_KNOBS = {
    "law": ("default", "caution"),
    "calibrated_last_value": ("caution",),
    "median": ("default", "warm-up"),
    "wilcoxon": ("p",),
    "sha": ("min",),
    "hyperband": ("min",),
}
_LEAST_REGRET = 1.0  # per cent that the axis shows at least


def frontier_figure(rows: Sequence[SweepRow], title: str = "") -> Figure:
    """The rows of mean_sweep_rows() (of one sweep: its own) as a figure; up and to the left is better.

    Error bars are standard errors. LawPruner's default has a ring. Regret is drawn on a square root scale.
    """
    counts = list(dict.fromkeys(row.workers for row in rows))
    figure = Figure(figsize=(_PANEL[0] * len(counts), _PANEL[1] + 0.5), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(counts), squeeze=False, sharey=True)[0]
    for axes, workers in zip(panels, counts, strict=True):
        _draw(axes, [row for row in rows if row.workers == workers])
        axes.set_title(f"{workers} at a time" if workers > 1 else "one trial at a time", fontsize=10)
    panels[0].set_ylabel("steps saved, %")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4 * len(counts), fontsize=8, frameon=False)
    if title:
        figure.suptitle(title, fontsize=11)
    return figure


def _draw(axes: Axes, rows: Sequence[SweepRow]) -> None:
    for rule, (label, color, marker) in _RULES.items():
        _draw_rule(axes, [row for row in rows if row.rule == rule], label, color, marker)
    for number, row in enumerate(row for row in rows if row.rule == "clairvoyant"):
        axes.axhline(100 * row.saved, color="#000000", linestyle="--", linewidth=1, label="_" * number + "clairvoyant")
        place = axes.get_yaxis_transform()
        axes.text(1, 100 * row.saved, row.setting, transform=place, ha="right", va="bottom", fontsize=7)
    axes.set_xscale("function", functions=(_root, _square))
    axes.set_xlim(0, max([_LEAST_REGRET, *(105 * (row.regret + row.regret_se) for row in rows)]))
    axes.set_ylim(0, 80)
    axes.set_xlabel("regret, % of the best score")
    axes.grid(alpha=0.2)


def _draw_rule(axes: Axes, rows: Sequence[SweepRow], label: str, color: str, marker: str) -> None:
    joined = [row for row in rows if row.setting.split()[0] in _KNOBS.get(row.rule, ())]
    single = [row for row in rows if row not in joined]
    for number, group in enumerate([sorted(joined, key=lambda row: row.saved), *([row] for row in single)]):
        if group:
            _draw_curve(axes, group, "_" * (number if joined else number - 1) + label, color, marker)
    for row in rows:
        x, y = 100 * row.regret, 100 * row.saved
        axes.annotate(row.setting, (x, y), (4, 3), textcoords="offset points", fontsize=5.5, color=color)
        if (row.rule, row.setting) == ("law", "default"):
            axes.plot(x, y, "o", markersize=12, fillstyle="none", color=color)


def _draw_curve(axes: Axes, rows: Sequence[SweepRow], label: str, color: str, marker: str) -> None:
    x, y = [100 * row.regret for row in rows], [100 * row.saved for row in rows]
    width, height = [100 * row.regret_se for row in rows], [100 * row.saved_se for row in rows]
    axes.errorbar(
        x, y, height, width, color=color, marker=marker, markersize=5, linewidth=1, elinewidth=0.6, label=label
    )


def _root(values: Floats) -> Floats:
    return np.asarray(np.sqrt(np.maximum(values, 0)))


def _square(values: Floats) -> Floats:
    return np.asarray(np.square(values))
