"""The points of a design, pair by pair and against their priors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.designs.design import Design, load_design
from percuss.kinds.runs_failed import RunsFailed
from percuss.plots.drawing import BLUE, GREY, INK, RED, WIDE, canvas, dots, key, picture
from percuss.plots.figure import Figure
from percuss.plots.labels import parameter_scale
from percuss.plots.subject import Subject
from percuss.spelling import counted

# More panels than this are dots on a postage stamp, more points than this only weight.
MOST_PARAMETERS = 8
MOST_POINTS = 1000


def scatter_matrix(design: Design, failed: NDArray[Any] | None = None) -> Figure:
    """Every pair of parameters, every parameter against its prior; points whose run failed are crosses."""
    names = design.names[:MOST_PARAMETERS]
    d = len(names)
    wrong = np.zeros(len(design.values), dtype=bool) if failed is None else failed
    rows = np.arange(len(design.values))
    good = np.array(_thinned(rows[~wrong]), dtype=int)
    bad = np.array(_thinned(rows[wrong]), dtype=int)
    side = min(WIDE, 1.2 + 1.75 * d) if d > 1 else 3.6
    figure, axes = canvas(d, d, side, side * 0.82 if d > 1 else 2.4)
    scales = [parameter_scale(design.study, name) for name in names]
    values = np.stack([scales[j].of(design.values[:, j]) for j in range(d)], axis=1)
    for i in range(d):
        for j in range(d):
            axis = axes[i, j]
            if j > i:
                axis.set_axis_off()
                continue
            if scales[j].logarithmic:
                axis.set_xscale("log")
            if i == j:
                _against_prior(axis, design, names[j], values[:, j], scales[j].logarithmic, scales[j].factor)
            else:
                if scales[i].logarithmic:
                    axis.set_yscale("log")
                dots(axis, values[good, j], values[good, i], BLUE, 2.6, alpha=0.45 if failed is not None else 0.75)
                if len(bad):
                    dots(axis, values[bad, j], values[bad, i], RED, 4.5, "x", alpha=1)
            _tidy(axis, i, j, d, scales[i].label, scales[j].label)
    axes[0, 0].plot([], [], color=INK, linewidth=1, label="expected from the prior")
    dots(axes[0, 0], [], [], BLUE, 4).set_label("points" if failed is None else "finished")
    if failed is not None:
        dots(axes[0, 0], [], [], RED, 5, "x").set_label("failed")
    key(figure, axes[0, 0])
    what = f"Scatter matrix of {counted(len(design.values), 'point')} in {', '.join(names)}"
    if failed is not None:
        what += f"; {int(wrong.sum())} whose run failed are marked with crosses"
    caption = (
        "Points of the design, pair by pair; on the diagonal their number in each class and what the prior expects."
    )
    if failed is not None:
        caption = "Where the failed runs lie: crosses. Bars on the diagonal are of all points."
    if len(good) + len(bad) < len(rows):
        caption += f" {len(good) + len(bad)} of {len(rows)} points are drawn."
    return picture(figure, what, caption)


def _thinned(rows: NDArray[Any]) -> list[int]:
    step = max(1, -(-len(rows) // MOST_POINTS))
    return [int(row) for row in rows[::step]]


def _against_prior(
    axis: Any, design: Design, name: str, values: NDArray[Any], logarithmic: bool, factor: float
) -> None:
    count = int(np.clip(np.sqrt(len(values)), 5, 20))
    low, high = float(values.min()), float(values.max())
    if not low < high:
        low, high = low - 0.5 * abs(low) - 1e-12, high + 0.5 * abs(high) + 1e-12
    edges = np.geomspace(low, high, count + 1) if logarithmic else np.linspace(low, high, count + 1)
    edges[0], edges[-1] = low, high
    axis.stairs(np.histogram(values, edges)[0], edges, fill=True, color=GREY, alpha=0.45)
    if name in design.study.parameters:
        expected = len(values) * np.diff(design.study.parameters[name].prior.cdf(edges / factor))
        axis.stairs(expected, edges, color=INK, linewidth=1, baseline=None)
    axis.set_ylim(bottom=0)


def _tidy(axis: Any, i: int, j: int, d: int, y_label: str, x_label: str) -> None:
    axis.grid(i != j)
    axis.tick_params(labelbottom=i == d - 1, labelleft=j == 0 and i > 0)
    if i == d - 1:
        axis.set_xlabel(x_label)
    if j == 0 and i > 0:
        axis.set_ylabel(y_label)
    if i == j:
        axis.spines["left"].set_visible(False)
        axis.tick_params(left=False, labelleft=False)


def draw_failed(subject: Subject) -> Figure:
    """Where the failed runs of an event lie in their design."""
    body = RunsFailed.of(subject.event)
    design = load_design(subject.session, subject.event)
    failed = np.zeros(len(design.values), dtype=bool)
    failed[list(body.samples)] = True
    return scatter_matrix(design, failed)
