"""Main effects with their direction: outputs of runs over each parameter, and the mean along it.

What an index cannot say: whether an output rises or falls with a parameter, and whether it does so all the way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from percuss.plots.drawing import canvas, chosen, dots, picture
from percuss.plots.figure import Figure
from percuss.plots.labels import Scale
from percuss.plots.style import BLUE, ORANGE, WIDE

MOST_PARAMETERS = 6
MOST_OUTPUTS = 6
MOST_POINTS = 300
# Rank correlations below this are called no direction.
WEAK = 0.1


class Effect(NamedTuple):
    """One output of the runs (n,), in the units it is drawn in."""

    label: str
    values: NDArray[np.float64]


def rank_correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Spearman's: +1 where y always rises with x, -1 where it always falls; 0 for what does not vary."""
    ranks = [np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(float) for values in (x, y)]
    if not len(x) or np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def direction(correlation: float) -> str:
    """In a word."""
    return "no clear direction" if abs(correlation) < WEAK else "rises" if correlation > 0 else "falls"


def class_means(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean of y in classes of equal numbers of points along x: an estimate of E[y | x]."""
    order = np.argsort(x, kind="stable")
    parts = np.array_split(order, int(np.clip(len(x) // 12, 3, 12)))
    parts = [part for part in parts if len(part)]
    return np.array([x[part].mean() for part in parts]), np.array([y[part].mean() for part in parts])


def main_effects(scales: list[Scale], points: NDArray[np.float64], effects: list[Effect]) -> Figure:
    """Outputs (rows) over parameters (columns); points (n, d) in SI."""
    scales, effects = scales[:MOST_PARAMETERS], effects[:MOST_OUTPUTS]
    width = min(WIDE, 1.2 + 2.1 * len(scales))
    figure, axes = canvas(len(effects), len(scales), width, 0.4 + 1.45 * len(effects), sharex="col", sharey="row")
    shown = chosen(range(len(points)), MOST_POINTS)
    words = []
    for i, effect in enumerate(effects):
        for j, scale in enumerate(scales):
            axis, x = axes[i, j], scale.of(points[:, j])
            dots(axis, x[shown], effect.values[shown], BLUE, 2.0, alpha=0.4)
            axis.plot(*class_means(x, effect.values), color=ORANGE, marker="s", markersize=2.5, linewidth=1.3)
            if scale.logarithmic and x.min() > 0:
                axis.set_xscale("log")
            correlation = rank_correlation(x, effect.values)
            axis.set_title(f"{direction(correlation)} ({correlation:+.2f})", fontsize=7, fontweight="normal")
            axis.grid(True)
            if i == len(effects) - 1:
                axis.set_xlabel(scale.label)
            words.append(f"{effect.label} {direction(correlation)} with {scale.name}")
        axes[i, 0].set_ylabel(effect.label)
    caption = (
        "Outputs over parameters: runs (dots) and their mean along the parameter (squares); in brackets the rank "
        "correlation, which has the sign of the direction."
    )
    return picture(figure, f"Main effects: {'; '.join(words[:12])}", caption)
