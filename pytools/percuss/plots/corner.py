"""Corner plot of draws: each parameter against its prior, each pair as regions of highest density."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.plots.drawing import BLUE, GREEN, INK, ORANGE, PURPLE, RED, WIDE, canvas, key, picture
from percuss.plots.figure import Figure
from percuss.plots.labels import Scale
from percuss.study.priors.prior import Prior

Array = NDArray[Any]

MASSES = (0.95, 0.5)
# Points marked in the plot: colour, marker, line.
MARKS = {
    "mean": (ORANGE, "o", "-"),
    "MAP": (PURPLE, "D", "--"),
    "truth": (GREEN, "*", ":"),
}
BINS = 36


@dataclass(frozen=True)
class Column:
    """One parameter of the draws."""

    scale: Scale
    prior: Prior


def corner(columns: Sequence[Column], draws: Array, marks: Mapping[str, Array], unconverged: bool) -> Figure:
    """Draws (n, d) and marked points in SI; drawn in the units of the parameters."""
    d = len(columns)
    shown = np.stack([column.scale.of(draws[:, j]) for j, column in enumerate(columns)], axis=1)
    points = {word: np.array([c.scale.factor for c in columns]) * np.asarray(values) for word, values in marks.items()}
    logarithmic = [
        c.scale.logarithmic and bool(shown[:, j].max() > 4 * shown[:, j].min() > 0) for j, c in enumerate(columns)
    ]
    edges = [_edges(shown[:, j], [p[j] for p in points.values()], logarithmic[j]) for j in range(d)]
    side = min(WIDE, 1.2 + 1.8 * d) if d > 1 else 4.0
    figure, axes = canvas(d, d, side, side * 0.85 if d > 1 else 2.8)
    for i in range(d):
        for j in range(d):
            axis = axes[i, j]
            if j > i:
                axis.set_axis_off()
                continue
            if logarithmic[j]:
                axis.set_xscale("log")
            if i == j:
                _alone(axis, columns[j], shown[:, j], edges[j], logarithmic[j])
            else:
                if logarithmic[i]:
                    axis.set_yscale("log")
                _together(axis, shown[:, j], shown[:, i], edges[j], edges[i])
                axis.set_ylim(edges[i][0], edges[i][-1])
            axis.set_xlim(edges[j][0], edges[j][-1])
            _mark(axis, points, i, j)
            axis.tick_params(labelbottom=i == d - 1, labelleft=j == 0 and i > 0)
            if i == d - 1:
                axis.set_xlabel(columns[j].scale.label)
            if j == 0 and i > 0:
                axis.set_ylabel(columns[i].scale.label)
    axes[0, 0].fill_between([], [], color=BLUE, alpha=0.5, label="posterior")
    key(figure, axes[0, 0])
    if unconverged:
        figure.text(0.98, 0.8, "UNCONVERGED", ha="right", color=RED, fontsize=15, weight="bold")
    return picture(figure, _alt(columns, shown, points, unconverged), _caption(points, unconverged))


def _edges(values: Array, marked: Sequence[float], logarithmic: bool) -> Array:
    known = [float(value) for value in marked if np.isfinite(value)]
    low, high = (float(end) for end in np.quantile(values, [0.001, 0.999]))
    low, high = min([low, *known]), max([high, *known])
    if not low < high:
        low, high = low - 0.5 * abs(low) - 1e-12, high + 0.5 * abs(high) + 1e-12
    if logarithmic and low > 0:
        more = (high / low) ** 0.04
        return np.asarray(np.geomspace(low / more, high * more, BINS + 1))
    more = 0.04 * (high - low)
    return np.asarray(np.linspace(low - more, high + more, BINS + 1))


def _alone(axis: Any, column: Column, values: Array, edges: Array, logarithmic: bool) -> None:
    """Share of the draws in each class, and of the prior."""
    axis.stairs(np.histogram(values, edges)[0] / len(values), edges, fill=True, color=BLUE, alpha=0.5)
    middles = np.sqrt(edges[1:] * edges[:-1]) if logarithmic else (edges[1:] + edges[:-1]) / 2
    expected = np.diff(column.prior.cdf(edges / column.scale.factor))
    axis.plot(middles, expected, color=INK, linewidth=1, label="prior")
    axis.set_ylim(bottom=0)
    axis.spines["left"].set_visible(False)
    axis.tick_params(left=False)


def _together(axis: Any, x: Array, y: Array, x_edges: Array, y_edges: Array) -> None:
    """Regions that hold half and 95 % of the draws, from a smoothed histogram."""
    from scipy.ndimage import gaussian_filter

    density = gaussian_filter(np.histogram2d(x, y, [x_edges, y_edges])[0].T, 1.1)
    heaviest = np.sort(density, axis=None)[::-1]
    held = np.cumsum(heaviest) / heaviest.sum()
    levels = [float(heaviest[int(np.searchsorted(held, mass))]) for mass in MASSES]
    centres = [(edges[1:] + edges[:-1]) / 2 for edges in (x_edges, y_edges)]
    top = float(heaviest[0]) * 1.001
    for level, alpha in zip(levels, (0.28, 0.4), strict=True):
        if level < top:
            axis.contourf(*centres, density, levels=[level, top], colors=[BLUE], alpha=alpha)
    axis.grid(True)


def _mark(axis: Any, points: Mapping[str, Array], i: int, j: int) -> None:
    for word, values in points.items():
        colour, marker, line = MARKS[word]
        if i == j:
            axis.axvline(values[j], color=colour, linestyle=line, linewidth=1.1, label=word)
        else:
            axis.plot(
                values[j], values[i], marker=marker, color=colour, markersize=6, linestyle="none",
                markeredgecolor=INK, markeredgewidth=0.4,
            )  # fmt: skip


def _alt(columns: Sequence[Column], shown: Array, points: Mapping[str, Array], unconverged: bool) -> str:
    intervals = []
    for j, column in enumerate(columns):
        low, high = np.quantile(shown[:, j], [0.025, 0.975])
        words = "".join(f", {word} {values[j]:.4g}" for word, values in points.items() if np.isfinite(values[j]))
        intervals.append(f"{column.scale.label} 95 % between {low:.4g} and {high:.4g}{words}")
    start = "Corner plot of draws that are UNCONVERGED" if unconverged else "Corner plot of the posterior"
    return f"{start}: {'; '.join(intervals)}"


def _caption(points: Mapping[str, Array], unconverged: bool) -> str:
    text = "Draws of every parameter (bars) with its prior (line), and of every pair: regions that hold 50 % and 95 %."
    shapes = {"mean": "circle, line", "MAP": "diamond, dashed line", "truth": "star, dotted line"}
    if points:
        text += " Marked: " + "; ".join(f"{word} ({shapes[word]})" for word in points) + "."
    if unconverged:
        text += " UNCONVERGED: these draws do not represent the posterior."
    return text
