"""Curves of runs in one set of axes: a few as lines, many as median and bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.plots.drawing import DASHES, INK, MARKERS, SERIES, thinned
from percuss.plots.peaks import Peak

# So many runs are drawn line by line; more become bands.
FEW = 8
# A line of fewer points than this is marked at each: one point alone would not be seen at all.
SPARSE = 12


@dataclass(frozen=True, eq=False)
class Line:
    """One run's curve, in the units it is drawn in; its peak where the samples miss it; with which runs it belongs."""

    label: str
    x: NDArray[Any]
    y: NDArray[Any]
    peak: Peak | None = None
    group: str = ""


def draw_fan(axis: Any, lines: Sequence[Line]) -> None:
    """Lines with their true peaks; more than a few as median and nine tenths of them, group by group."""
    if len(lines) > FEW:
        groups = list(dict.fromkeys(line.group for line in lines))
        for i, group in enumerate(groups):
            _band(axis, [line for line in lines if line.group == group], i, group if len(groups) > 1 else "")
        return
    for i, line in enumerate(lines):
        colour, dash = SERIES[i % len(SERIES)], DASHES[(i // len(SERIES) + i) % len(DASHES)]
        mark = {"marker": MARKERS[i % len(MARKERS)], "markersize": 4} if len(line.x) <= SPARSE else {}
        axis.plot(line.x, line.y, color=colour, linestyle=dash, linewidth=0.9, label=line.label, **mark)
        if line.peak:
            near = float(np.interp(line.peak.place, line.x, line.y))
            axis.plot([line.peak.place] * 2, [near, line.peak.value], color=colour, linewidth=0.9)
            axis.plot(
                line.peak.place, line.peak.value, color=colour, marker=MARKERS[i % len(MARKERS)], markersize=5,
                markeredgecolor=INK, markeredgewidth=0.5, linestyle="none",
            )  # fmt: skip


def _band(axis: Any, lines: Sequence[Line], place: int, group: str) -> None:
    """Median and 5 to 95 % of the lines of a group; of the only group its middle half as well."""
    grid = lines[0].x
    if any(len(line.x) != len(grid) or not np.array_equal(line.x, grid) for line in lines):
        grid = np.linspace(max(line.x[0] for line in lines), min(line.x[-1] for line in lines), len(grid))
    grid = grid[thinned(len(grid))]
    values = np.array([np.interp(grid, line.x, line.y) for line in lines])
    colour, dash = SERIES[place % len(SERIES)], DASHES[place % len(DASHES)]
    mark = {"marker": MARKERS[place % len(MARKERS)], "markersize": 3} if len(grid) <= SPARSE else {}
    word = f"{group}, " if group else ""
    spans = ((0.05, 0.95, 0.2, "5 to 95 %"), (0.25, 0.75, 0.35, "25 to 75 %"))
    for low, high, alpha, label in spans[: 1 if group else 2]:
        ends = np.quantile(values, [low, high], axis=0)
        axis.fill_between(grid, *ends, color=colour, alpha=alpha, linewidth=0, label=f"{word}{label}")
    middle = np.median(values, axis=0)
    axis.plot(
        grid, middle, color=colour if group else INK, linestyle=dash, linewidth=1.0, label=f"{word}median", **mark
    )


def marks_note(lines: Sequence[Line]) -> str:
    """What the marks of a picture mean, for its caption; empty where there are none."""
    if len(lines) > FEW or not any(line.peak for line in lines):
        return ""
    return " Marks: true peaks of impacts that the samples miss."
