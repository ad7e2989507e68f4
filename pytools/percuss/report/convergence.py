"""Changes of outputs from step to step, over the step: lines that fall settle, lines that rise have no limit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from percuss.kinds.convergence_checked import ConvergenceChecked
from percuss.report.drawing import DASHES, SERIES, WIDE, canvas, drawing, key
from percuss.report.figures import save


def write_changes(body: ConvergenceChecked, table: pl.DataFrame, path: Path) -> None:
    """Draw them into a file."""
    with drawing():
        figure = draw_changes(body, table)
        figure.set_facecolor("white")
        save(figure, path)


def draw_changes(body: ConvergenceChecked, table: pl.DataFrame) -> Any:
    """A figure; call it within `percuss.report.drawing.drawing`."""
    numerics = body.numerics
    figure, axes = canvas(1, 1, WIDE, 2.6)
    axis = axes[0, 0]
    names = [item.name for item in body.outputs if item.quote != "diagnostic"]
    for i, name in enumerate(names):
        rows = table.filter(pl.col("output") == name).unique("level", keep="first").sort("level")
        value, step = rows["value"].to_numpy(), rows["step"].to_numpy()
        change = np.abs(np.diff(value)) / (abs(value[-1]) or 1.0)
        seen = change > 0
        colour, dash = SERIES[i % len(SERIES)], DASHES[i // len(SERIES) % len(DASHES)]
        axis.plot(step[1:][seen], change[seen], color=colour, linestyle=dash, marker="o", markersize=3, label=name)
    axis.set_xscale("log")
    axis.set_yscale("log")
    steps = table["step"].unique().sort().to_list()[:-1]
    axis.set_xticks(steps, [f"{step:.3g}" for step in steps])
    axis.minorticks_off()
    axis.set_xlabel(numerics.name + ("" if numerics.unit == "1" else f" [{numerics.unit}]"))
    axis.set_ylabel("change / last value")
    axis.grid(True)
    if names:
        key(figure, axis, 4)
    return figure
